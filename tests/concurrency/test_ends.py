"""The end of an execution: recorded and announced, alone and with concurrent changes."""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction

from executions import lifecycle
from executions.database.ids import uuid7
from executions.errors import WrongState
from executions.events import execution_ended, execution_finished
from executions.models import WorkflowExecution
from runners import statements
from runners.errors import LeaseLost
from runners.models import Run
from runners.pipeline import decide, execute, receive, record_result
from runners.workers import connections
from tests.support.auditor import audit
from tests.support.graphs import draw
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.round_trips import round_trips
from tests.support.segments import Held, claimed, lease_runs_out, recorded, run_of
from tests.support.single_thread import World, configured, world
from tests.support.workflows import (
    ACTOR,
    effect,
    limited_workspace,
    publish,
    start,
    states,
    task,
)

BRANCHES = {"tasks": [effect("a"), effect("b")]}


def test_of_two_last_branches_the_one_that_waited_ends_the_execution(
    queue: World, rivals: Rivals
) -> None:
    """Of two last branches, the one that waited ends the execution: after the wait, it reads newer
    data than its waiting statement saw.
    """
    execution = start(publish(BRANCHES))
    first, second = claimed(execution, "a.main"), claimed(execution, "b.main")
    with transaction.atomic():
        recorded(first)
        other = rivals.begin(recorded, second)
        wait_until_blocked(my_session())
    assert other.result(60) is None
    assert [run_of(execution, path).state for path in ("a.main", "b.main")] == ["SUCCESS"] * 2
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_a_lock_that_is_waited_for_too_long_leaves_a_session_that_works(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(BRANCHES))
    first, second = claimed(execution, "a.main"), claimed(execution, "b.main")

    def impatient() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        with pytest.raises(OperationalError, match="lock timeout"):
            recorded(second)
        row = statements.fetch_one("has_live_run", {"execution": execution})
        return bool(row and row[0])

    with transaction.atomic():
        recorded(first)
        assert rivals.begin(impatient).result(60), "nothing of it was written"
    recorded(second)
    assert states([execution])[execution] == "SUCCESS"


def carried(queue: World) -> UUID:
    """Process the newest message, as a worker does; return its execution."""
    message = queue.queue.pop()
    receive.run_segment(message.execution, message.version, message.segment)
    return message.execution


@pytest.mark.parametrize(
    "document",
    [
        {"tasks": [task("only")]},
        {"tasks": [effect("only")]},
        {"tasks": [task("first"), task("last", after="first")]},
        {"tasks": [effect("only")], "output": "{{ tasks.only.outcome }}"},
    ],
    ids=["pure", "effect", "two pure", "output"],
)
def test_an_execution_of_one_record_takes_three_round_trips(
    queue: World, document: dict[str, Any]
) -> None:
    """An execution of one record takes three round trips: load; claim; lock, record and end. Only
    statements that are new to the connection, and values that a process reads again every few
    seconds, take more.
    """
    workflow = publish(document)
    counts = []
    for _ in ("first", "prepared", "prepared", "prepared"):
        start(workflow)
        connections.tidy()
        with configured(stretch_steps=32), round_trips() as trips:
            execution = carried(queue)
        assert states([execution])[execution] == "SUCCESS"
        counts.append(len(trips))
    assert min(counts) == 3
    audit([execution])


def rows_of(execution: UUID) -> tuple[Any, ...]:
    """Return the stored values of an execution, except ids, times, keys and durations."""
    one = WorkflowExecution.objects.get(pk=execution)
    figures = {k: v for k, v in (one.metrics_snapshot or {}).items() if not k.endswith("Ms")}
    runs = Run.objects.filter(execution=execution).order_by("step_path", "attempt")
    facts = ("step_path", "attempt", "state", "outcome", "outputs", "inputs", "error", "logs")
    kept = (one.state, one.place, one.output, one.error_message, one.error_stack_trace, figures)
    return (*kept, one.finished_at is not None, list(runs.values_list(*facts)))


@pytest.mark.parametrize("seed", range(40))
def test_an_end_with_the_record_leaves_the_rows_of_one_under_the_lock(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """An end with the record leaves the same rows as an end under the lock: random workflows, with
    failures and retries, gates and joins, run the same way on both sides.
    """
    document = draw(Random(seed), most=5).document
    document["output"] = {"workflow": "{{ execution.workflow }}"}
    found = []
    for known in (decide.ends_execution, lambda state, unit: False):
        monkeypatch.setattr(decide, "ends_execution", known)
        with world(Random(seed), monkeypatch, lose=0, double=0, die=0) as quiet:
            execution = start(publish(document))
            quiet.drain_with_retries(execution)
        audit([execution])
        found.append(rows_of(execution))
    assert found[0] == found[1]


LAST = {"tasks": [effect("last")]}
# One is ended in a statement of its own, the other with its record.
ENDS = {"alone": LAST, "of two": {"tasks": [effect("first"), effect("last", after="first")]}}


@pytest.fixture(params=ENDS)
def execution(queue: World, request: pytest.FixtureRequest) -> Iterator[UUID]:
    """Start an execution whose last step is recorded by the worker that ran all of it."""
    with configured(segment_steps=32, segment_seconds=10_000):
        yield start(publish(ENDS[request.param]))


def last_of(execution: UUID) -> Held:
    """Execute the execution up to its last step, and claim that step."""
    state, work = claimed(execution, Run.objects.get(execution=execution).segment)
    while work.path != "last.main":
        following = recorded((state, work))
        assert following is not None
        work = following
    return state, work


def test_a_cancelled_execution_is_not_ended_by_its_last_step(
    execution: UUID, rivals: Rivals
) -> None:
    held = last_of(execution)
    with transaction.atomic():
        lifecycle.cancel(execution, actor=ACTOR)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        end.result(60)
    assert run_of(execution, "last.main").state == "CANCELLED"
    assert states([execution])[execution] == "CANCELLED"
    audit([execution])


def test_an_execution_paused_meanwhile_keeps_the_result_and_ends_when_resumed(
    execution: UUID, rivals: Rivals
) -> None:
    held = last_of(execution)
    with transaction.atomic():
        lifecycle.pause(execution, actor=ACTOR)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    assert end.result(60) is None
    assert run_of(execution, "last.main").state == "SUCCESS"
    assert states([execution])[execution] == "PAUSED"
    lifecycle.resume(execution, actor=ACTOR)
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_an_execution_that_timed_out_meanwhile_stays_so(execution: UUID, rivals: Rivals) -> None:
    held = last_of(execution)
    with transaction.atomic():
        assert lifecycle.time_out(execution)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        end.result(60)
    assert states([execution])[execution] == "TIMEOUT"


def test_who_lost_the_last_step_ends_nothing(execution: UUID, rivals: Rivals) -> None:
    """A worker that lost the last step does not end the execution; the worker that took the step
    over does.
    """
    late = last_of(execution)
    lease_runs_out(late[1].run_id)
    with transaction.atomic():
        other = claimed(execution, run_of(execution, "last.main").segment)
        end = rivals.begin(recorded, late)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        end.result(60)
    assert states([execution])[execution] == "RUNNING"
    assert recorded(other) is None
    assert states([execution])[execution] == "SUCCESS"
    assert run_of(execution, "last.main").lease_token == 2
    audit([execution])


def test_a_cancel_that_comes_during_the_end_is_told_of_it(execution: UUID, rivals: Rivals) -> None:
    held = last_of(execution)
    with transaction.atomic():
        recorded(held)
        other = rivals.begin(lifecycle.cancel, execution, actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState, match="it is SUCCESS"):
        other.result(60)
    audit([execution])


def test_a_dead_line_does_not_make_of_one_end_two(
    execution: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead connection does not end an execution twice.

    The answer to a committed record is lost: repeating it is rejected.
    """
    state, work = last_of(execution)
    unit = execute.perform(state, work)
    lost = [True]

    def deaf(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*args: Any) -> Any:
            found = ask(*args)
            if lost and lost.pop():
                raise OperationalError("the connection was lost")
            return found

        return asked

    for name in ("fetch", "fetch_together"):
        monkeypatch.setattr(statements, name, deaf(getattr(statements, name)))
    with pytest.raises(LeaseLost):
        record_result.record(state, work, unit)
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_who_commits_with_the_end_can_undo_it(execution: UUID) -> None:
    held = last_of(execution)
    seen: list[bool] = []

    def refuses(**_: Any) -> None:
        seen.append(connection.in_atomic_block)
        raise ValueError("not yet")

    execution_finished.connect(refuses)
    try:
        with pytest.raises(ValueError, match="not yet"):
            recorded(held)
    finally:
        execution_finished.disconnect(refuses)
    assert seen == [True]
    assert run_of(execution, "last.main").state == "RUNNING"
    assert states([execution])[execution] == "RUNNING"


def test_everybody_else_is_told_once_after_the_commit(execution: UUID) -> None:
    held = last_of(execution)
    told: list[tuple[Any, ...]] = []

    def hears(execution_id: UUID, state: str, **_: Any) -> None:
        told.append((execution_id, state, connection.in_atomic_block))
        raise ValueError("one that fails keeps the others from nothing")

    execution_ended.connect(hears)
    try:
        recorded(held)
    finally:
        execution_ended.disconnect(hears)
    assert told == [(execution, "SUCCESS", False)]
    assert states([execution])[execution] == "SUCCESS"


def test_an_end_with_the_record_lets_the_next_have_its_place_and_key(queue: World) -> None:
    workspace = limited_workspace(1)
    first, second = (start(workflow) for workflow in [publish(LAST, workspace)] * 2)
    keyed = publish(LAST | {"settings": {"concurrency": {"key": "one", "onConflict": "queue"}}})
    third, fourth = start(keyed), start(keyed)
    assert [states([pk])[pk] for pk in (second, fourth)] == ["PENDING"] * 2
    recorded(claimed(first, "last.main"))
    recorded(claimed(third, "last.main"))
    assert [states([pk])[pk] for pk in (second, fourth)] == ["RUNNING"] * 2
    queue.drain()
    audit([first, second, third, fourth])


def test_an_execution_that_was_changed_meanwhile_ends_as_it_then_is(
    execution: UUID, rivals: Rivals
) -> None:
    """An execution that changed concurrently ends in its new state: the statement that waited reads
    the row as it was committed.
    """
    held = last_of(execution)
    with transaction.atomic():
        WorkflowExecution.objects.filter(pk=execution).update(priority=9)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    assert end.result(60) is None
    found = WorkflowExecution.objects.get(pk=execution)
    assert (found.state, found.priority, found.metrics_snapshot["deadLetters"]) == ("SUCCESS", 9, 0)
    audit([execution])


def test_what_else_is_live_keeps_an_execution_from_ending(queue: World) -> None:
    """Other live runs keep an execution from ending: a user requeues a step that had succeeded."""
    execution = start(publish({"tasks": [effect("first"), effect("last", after="first")]}))
    with configured(segment_steps=32, segment_seconds=10_000):
        held = last_of(execution)
    first = run_of(execution, "first.main")
    Run.objects.filter(pk=first.pk).update(superseded=True)
    first.pk, first.attempt, first.state = uuid7(), 2, "PENDING"
    first.lease_token, first.finished_at, first.outputs = 0, None, None
    first.save(force_insert=True)
    assert recorded(held) is None
    assert run_of(execution, "last.main").state == "SUCCESS"
    assert states([execution])[execution] == "RUNNING"
    lifecycle.cancel(execution, actor=ACTOR)
