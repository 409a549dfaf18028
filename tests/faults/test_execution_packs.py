"""Fifty short executions share one message; their worker is killed, or one of them is delayed."""

import pytest

from executions import lifecycle
from runners.models import Run
from tests.support.auditor import audit
from tests.support.execution_packs import ODD, STEP, start_packs
from tests.support.fleet import Fleet
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, states, wait_for_end


def test_executions_that_share_messages_are_done_once_each(fleet: Fleet) -> None:
    ids = start_packs(4, hang_seconds=0)
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert audit(ids).repeats == 0


@pytest.mark.parametrize("whole", [False, True], ids=["child", "worker"])
def test_kill_9_within_a_pack_of_50_repeats_what_was_under_way_alone(
    fleet: Fleet, whole: bool
) -> None:
    ids = start_packs(4, hang_seconds=50)
    first = wait_for_mark(ids[ODD])
    victim = fleet.member_of(first["pid"])
    under_way = len(victim.children) if whole else 1
    killed = kill(victim.pid if whole else first["pid"])
    again = wait_for_mark(ids[ODD], number=2)
    following = wait_for_mark(ids[ODD + 1])
    assert again["token"] > first["token"]
    assert (again["at"] - killed).total_seconds() < 30
    assert (following["at"] - killed).total_seconds() < 30
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert 1 <= audit(ids).repeats <= under_way
    assert len(marks_of(ids[0], STEP)) == 1, "what was recorded is not done again"


def test_the_others_of_a_pack_are_done_while_its_third_member_never_returns(fleet: Fleet) -> None:
    ids = start_packs(4, hang_seconds=50)
    wait_for_mark(ids[ODD])
    others = [pk for pk in ids if pk != ids[ODD]]
    wait_for_end(others, 40)
    assert states(ids)[ids[ODD]] == "RUNNING"
    assert {len(marks_of(pk, STEP)) for pk in ids} == {1}
    lifecycle.cancel(ids[ODD], actor=ACTOR)
    audit(others)


def test_a_member_that_ignores_its_time_out_takes_nobody_along(fleet: Fleet) -> None:
    ids = start_packs(
        4, hang_seconds=900, ignoreTimeout=True, timeoutSeconds=2, retry={"maxAttempts": 1}
    )
    ended = wait_for_end(ids)
    assert ended.pop(ids[ODD]) == "FAILED"
    assert set(ended.values()) == {"SUCCESS"}
    run = Run.objects.get(execution=ids[ODD])
    assert (run.state, run.error_type) == ("DLQ", "TIMEOUT")
    assert audit(ids).repeats == 0
    wait_until(lambda: not fleet.executing(), 20, "the end of the process that held it")
