"""A child, a whole worker, and everything are killed with SIGKILL."""

import math

import pytest

from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.workflows import effect, publish, start, start_many, wait_for_end

HANGS_ONCE = {"tasks": [effect("work", hangSeconds=50)]}
KILLS = 40  # enough for one delay of the machine, which affects both of a pair
AT_ONCE = 2


@pytest.mark.quiet
def test_a_killed_childs_step_is_taken_over_within_two_seconds(fleet: Fleet) -> None:
    workflow = publish(HANGS_ONCE)
    delays = []
    ids = []
    for _ in range(KILLS // AT_ONCE):
        batch = start_many(workflow, [{}] * AT_ONCE)
        first = [wait_for_mark(execution) for execution in batch]
        killed = [kill(mark["pid"]) for mark in first]
        again = [wait_for_mark(execution, number=2) for execution in batch]
        delays += [(b["at"] - a).total_seconds() for a, b in zip(killed, again, strict=True)]
        assert all(b["token"] > a["token"] for a, b in zip(first, again, strict=True))
        ids += batch
    wait_for_end(ids)
    assert audit(ids).repeats == len(ids), "each effect is repeated once, after its crash"
    p95 = sorted(delays)[math.ceil(0.95 * len(delays)) - 1]
    assert p95 < 2, f"p95 {p95:.2f} s; all: {[round(delay, 2) for delay in sorted(delays)]}"


def test_a_killed_workers_steps_are_done_by_another_within_thirty_seconds(fleet: Fleet) -> None:
    workflow = publish({"tasks": [effect("work", hangSeconds=50), effect("more", after="work")]})
    execution = start(workflow)
    mark = wait_for_mark(execution)
    kill(mark["pid"])  # so that the worker that ended first is not the one that is left
    mark = wait_for_mark(execution, number=2)
    execution = start(workflow)
    mark = wait_for_mark(execution)
    victim = fleet.member_of(mark["pid"])
    at = kill(victim.pid)
    again = wait_for_mark(execution, number=2)
    assert not victim.alive()
    assert (again["at"] - at).total_seconds() < 30
    wait_for_end([execution])
    audit([execution])


def test_nothing_is_lost_when_all_processes_are_killed_and_started_again(fleet: Fleet) -> None:
    tasks = [effect(f"e{n}", after=f"e{n - 1}" if n else None, seconds=0.05) for n in range(8)]
    ids = start_many(publish({"tasks": tasks}), [{}] * 20)
    wait_for_mark(ids[0], "e1.main")
    for member in fleet.members.values():
        member.kill()
    fleet.ensure()
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)


def test_a_step_that_kills_its_worker_every_time_is_dead_after_three(fleet: Fleet) -> None:
    poison = start(publish({"tasks": [effect("work", killTimes=99)]}))
    assert wait_for_end([poison])[poison] == "FAILED"
    run = Run.objects.get(execution_id=poison)
    assert (run.state, run.attempt) == ("DLQ", 1)
    assert run.crashes == 3
    assert "ended its worker process 3 times" in run.error
    assert len(marks_of(poison, "work.main")) == 3
    after = start(publish({"tasks": [effect("work")]}))
    assert wait_for_end([after])[after] == "SUCCESS", "the pool goes on"
    audit([poison, after])
