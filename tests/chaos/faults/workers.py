"""Whole workers are killed, one by one and all at once; a worker is frozen for longer than its
lease.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from executions.database.clock import database_now
from runners.models import Run
from runners.process.identity import started
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start

HANGS_ONCE = {"tasks": [effect("work", hangSeconds=50), effect("after", after="work")]}
FROZEN = {"tasks": [effect("work", hangSeconds=1), effect("after", after="work")]}


def _whole_worker(world: World) -> None:
    workflow = publish(HANGS_ONCE)
    for _ in range(1 if world.quick else 4):
        execution = start(workflow)
        world.own([execution])
        mark = wait_for_mark(execution)
        victim = world.fleet.member_of(mark["pid"])
        world.injected("kill -9 of a worker, parent first", victim.pid, *victim.children)
        killed = kill(victim.pid)
        again = wait_for_mark(execution, number=2, seconds=60)
        world.recovered("step done again", (again["at"] - killed).total_seconds())
        world.fleet.ensure()


def _all_workers(world: World) -> None:
    for _ in range(1 if world.quick else 2):
        wait_until(lambda: len(world.load.accepted) >= 5, 30, "some load")
        world.pause(2)
        members = [m for name, m in world.fleet.members.items() if not name.startswith("beat")]
        with world.excused():
            for member in members:
                world.injected(f"kill -9 of {member.name}", member.pid, *member.children)
                member.kill()
            left = world.unfinished(1000)
            assert left, "everything had ended before the workers were killed"
            world.fleet.ensure()
        back = database_now()
        wait_until(
            lambda left=left: len(world.still(left)) < len(left), 60, "an end after the restart"
        )
        world.recovered("first end", (database_now() - back).total_seconds())
        world.pause(3)


@contextmanager
def frozen(world: World, *pids: int) -> Iterator[None]:
    """Stop these processes during the block."""
    world.injected("SIGSTOP, then SIGCONT")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):  # its watchdog ended it
                os.kill(pid, signal.SIGCONT)


def _past_its_lease(world: World) -> None:
    workflow = publish(FROZEN)
    for _ in range(1 if world.quick else 3):
        execution = start(workflow)
        world.own([execution])
        mark = wait_for_mark(execution)
        stopped = database_now()
        before = world.fenced()
        with frozen(world, mark["pid"]):
            again = wait_for_mark(execution, number=2, seconds=90)
        world.recovered("step done again", (again["at"] - stopped).total_seconds())
        wait_until(
            lambda before=before, pid=mark["pid"]: world.fenced() > before or not started(pid),
            30,
            "the fenced late result, or the end of the process before it",
        )
        run = Run.objects.get(execution_id=execution, step_path="work.main")
        assert run.lease_token == again["token"], "the late result was recorded"
        assert len(marks_of(execution, "work.main")) == 2


WORKER_KILLED = Fault(
    "worker-killed",
    "`kill -9` of a whole worker, parent first",
    "its steps are done by another in under 30 s",
    30,
    _whole_worker,
)
ALL_KILLED = Fault(
    "all-killed",
    "`kill -9` of all workers, then a start of new workers",
    "nothing is lost",
    None,
    _all_workers,
)
FROZEN_WORKER = Fault(
    "frozen",
    "a worker frozen (SIGSTOP) until its lease has expired, then continued (SIGCONT)",
    "the step is done by another in under 30 s; the frozen process ends or its late result is "
    "fenced, the success is recorded once",
    30,
    _past_its_lease,
    load=Load(rate=2),
)
