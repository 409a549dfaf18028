"""The effects of a lost worker on a step: whether it is sent again, when, and after how many
crashes.
"""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from executions.database.ids import uuid7
from runners.conf import config
from runners.models import Run
from runners.observability.metrics import DEATHS
from runners.pipeline import crashes
from runners.process.cause_of_death import LOST, SHORT, SILENT, Death, crash
from tests.support.segments import claimed, lease_runs_out, recorded, run_of
from tests.support.single_thread import World, configured
from tests.support.workflows import effect, publish, start, states

PATH = "b0.main"


def lost(queue: World, siblings: int = 0, earlier: int = 0) -> tuple[UUID, int]:
    """Create a run whose worker has ended, after `earlier` earlier crashes; its execution's
    siblings wait.
    """
    execution = start(publish({"tasks": [effect(f"b{n}") for n in range(1 + siblings)]}))
    _, work = claimed(execution, PATH)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runners_run SET crashes = %s WHERE id = %s", [earlier, work.run_id])
    queue.queue.clear()
    return execution, work.token


def sent(queue: World) -> list[str]:
    return sorted(message.segment for message in queue.queue)


def counts(run: Run) -> tuple[str, int, int, bool]:
    return run.state, run.crashes, run.recoveries, run.suspect


def blamed(kind: str) -> float:
    [family] = DEATHS.collect()
    return sum(
        one.value
        for one in family.samples
        if one.name.endswith("_total") and one.labels == {"blamed": kind}
    )


def test_a_step_that_ended_its_process_is_sent_again_at_once(queue: World) -> None:
    execution, token = lost(queue)
    before = blamed("step")
    killed = crash("killed by signal 9")
    assert crashes.mend(execution, run_of(execution, PATH).pk, token, 0, killed) == 1
    run = run_of(execution, PATH)
    assert counts(run) == ("PENDING", 1, 1, True)
    assert (run.crash_cause, run.lease_token) == ("killed by signal 9", token + 1)
    assert sent(queue) == [PATH]
    assert blamed("step") == before + 1


def test_a_step_that_another_worker_has_is_not_blamed(queue: World) -> None:
    execution, token = lost(queue)
    stalled = crash("stalled")
    assert crashes.mend(execution, run_of(execution, PATH).pk, token - 1, 0, stalled) == 0
    assert crashes.mend(execution, run_of(execution, PATH).pk, token - 1, 0, LOST) == 0
    assert crashes.mend(execution, uuid7(), token, 0, stalled) == 0
    assert counts(run_of(execution, PATH)) == ("RUNNING", 0, 0, False)
    assert sent(queue) == []


# The death, and what it leaves: crashes, whether it is suspected, whether it is sent now.
DEATHS_OF_A_STEP: dict[str, tuple[Death, bool, tuple[int, bool, bool]]] = {
    "the step's own": (crash("out of memory"), False, (2, True, False)),
    "the step's own, whose lease was its wait": (crash("out of memory"), True, (2, True, True)),
    "unknown": (LOST, False, (1, True, True)),
    "short of memory": (SHORT, False, (1, True, False)),
    "short of memory, whose lease was its wait": (SHORT, True, (1, True, False)),
    "silent": (SILENT, False, (1, False, True)),
}


@pytest.mark.parametrize("case", DEATHS_OF_A_STEP)
def test_a_second_loss_is_counted_and_delayed_by_its_cause(queue: World, case: str) -> None:
    death, at_once, (count, suspect, now) = DEATHS_OF_A_STEP[case]
    execution, token = lost(queue, earlier=1)
    assert (
        crashes.mend(execution, run_of(execution, PATH).pk, token, 1, death, at_once=at_once) == 1
    )
    run = run_of(execution, PATH)
    assert counts(run) == ("PENDING", count, 1, suspect)
    assert sent(queue) == ([PATH] if now else [])
    assert (run.retry_after is None) is now


@pytest.mark.parametrize(
    ("count", "seconds"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (7, 32), (8, 60), (2000, 60)]
)
def test_the_wait_after_a_crash_doubles_up_to_a_minute(count: int, seconds: float) -> None:
    assert crashes.backoff(count) == seconds


def test_siblings_that_came_with_the_step_are_sent_again(queue: World) -> None:
    execution, token = lost(queue, siblings=4)
    with configured(pack_steps=4):
        assert crashes.mend(execution, run_of(execution, PATH).pk, token, 0, LOST) == 1
    assert sent(queue)[0] == PATH
    assert len(sent(queue)) == 4, "a message carried at most three others"
    again = Run.objects.filter(execution_id=execution, publications=2).exclude(step_path=PATH)
    assert {run.step_path for run in again} == set(sent(queue)[1:])


def test_siblings_are_sent_even_if_the_step_has_to_wait(queue: World) -> None:
    execution, token = lost(queue, siblings=1)
    crashes.mend(execution, run_of(execution, PATH).pk, token, 0, SHORT)
    assert sent(queue) == ["b1.main"]


def test_a_step_that_crashes_too_often_fails_with_the_cause(queue: World) -> None:
    poison = config().poison
    execution, token = lost(queue, earlier=poison - 1)
    before: Any = blamed("step"), blamed("unknown")
    assert (
        crashes.mend(execution, run_of(execution, PATH).pk, token, poison - 1, crash("exit code 3"))
        == 1
    )
    run = run_of(execution, PATH)
    assert counts(run)[:2] == ("DLQ", poison)
    assert (run.crash_cause, run.error_details["exception"]) == ("exit code 3", "WorkerLost")
    assert run.error.startswith(f"Step {PATH} ended its worker process {poison} times")
    assert "exit code 3" in run.error
    assert states([execution]) == {execution: "FAILED"}
    assert sent(queue) == []
    assert (blamed("step"), blamed("unknown")) == (before[0] + 1, before[1])


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_worker_that_takes_over_a_step_that_crashed_too_often_fails_it(
    queue: World, more: int
) -> None:
    count = config().poison + more
    execution, _ = lost(queue, earlier=count)
    lease_runs_out(run_of(execution, PATH).pk)
    state, work = claimed(execution, PATH)
    if more < 0:
        assert (work.failure, work.prepared is None) == (None, False)
    else:
        assert work.failure is not None
        assert work.failure.exception == "WorkerLost"
        assert f"{count} times" in work.failure.message
    recorded((state, work))
    row = run_of(execution, PATH)
    assert (row.state, row.crashes) == ("SUCCESS" if more < 0 else "DLQ", count)


def test_a_run_taken_over_or_gone_does_not_fail_for_its_crashes(queue: World) -> None:
    poison = config().poison
    execution, token = lost(queue)
    before = blamed("step")
    assert crashes.mend(execution, run_of(execution, PATH).pk, token - 1, poison, crash("")) == 0
    assert crashes.mend(execution, uuid7(), token, poison, crash("")) == 0
    assert run_of(execution, PATH).state == "RUNNING"
    assert blamed("step") == before
