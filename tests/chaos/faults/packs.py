"""Packs of 50 executions: a worker is killed within one, and a member never returns."""

from datetime import datetime
from uuid import UUID

from runners.models import Run
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.execution_packs import ODD, PACK, STEP, start_packs
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.workflows import wait_for_end

LITTLE = Load(rate=1)
PACKS = 6


def _killed(world: World) -> None:
    for number in range(2 if world.quick else 6):
        ids = start_packs(PACKS, hang_seconds=50)
        world.own(ids)
        first = wait_for_mark(ids[ODD])
        victim = world.fleet.member_of(first["pid"])
        whole = number % 2 == 1
        most = len(victim.children) if whole else 1
        named = "a worker" if whole else "a worker's child"
        world.injured.add(first["pid"])
        world.injected(f"kill -9 of {named} within a pack of {PACK}", victim.pid, *victim.children)
        killed = kill(victim.pid if whole else first["pid"])
        for member in (ODD, ODD + 1):
            done = wait_for_mark(ids[member], number=2 if member == ODD else 1, seconds=60)
            world.recovered("step done again", (done["at"] - killed).total_seconds())
        assert set(wait_for_end(ids, 120).values()) == {"SUCCESS"}
        twice = sum(len(marks_of(pk, STEP)) - 1 for pk in ids)
        assert 1 <= twice <= most, f"{twice} steps were repeated; {most} were under way"
        world.fleet.ensure()


def _never_returns(world: World) -> None:
    for stubborn in (False, True):
        ids = start_packs(
            PACKS, hang_seconds=900, ignoreTimeout=stubborn, timeoutSeconds=10, retry="none"
        )
        world.own(ids)
        world.injected("a member that ignores its time-out" if stubborn else "one that hangs")
        began = wait_for_mark(ids[ODD])["at"]
        ended = wait_for_end(ids, 120)
        assert ended.pop(ids[ODD]) == "FAILED"
        assert set(ended.values()) == {"SUCCESS"}
        world.recovered("the others done", _last_of(ids, began))
        stuck = Run.objects.get(execution_id=ids[ODD])
        assert (stuck.state, stuck.error_type) == ("DLQ", "TIMEOUT"), stuck.error


def _last_of(ids: list[UUID], began: datetime) -> float:
    """Return the seconds from the third member's start to the last end of the others."""
    others = [pk for pk in ids if pk != ids[ODD]]
    last = Run.objects.filter(execution_id__in=others).order_by("finished_at").last()
    assert last is not None
    assert last.finished_at is not None
    return (last.finished_at - began).total_seconds()


PACK_KILLED = Fault(
    "pack-killed",
    "`kill -9` of a worker, or of its child, during a pack of 50 executions",
    "the step under way is done again in under 30 s, the others once; nothing is lost",
    30,
    _killed,
    load=LITTLE,
)
PACK_STUCK = Fault(
    "pack-stuck",
    "a pack of 50 executions whose third member never returns",
    "the others are done by other workers before its time-out of 10 s; it alone fails",
    10,
    _never_returns,
    load=LITTLE,
)
