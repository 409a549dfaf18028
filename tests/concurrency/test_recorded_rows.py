"""The row that the record of a step leaves, and the next work of the worker that recorded it."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction

from executions import lifecycle
from executions.models import WorkflowExecution
from runners import statements
from runners.conf import config
from runners.errors import StepFailed
from runners.failures.classification import Failure
from runners.models import Run
from runners.modules.base import Wait
from runners.observability import metrics
from runners.pipeline import claim_run, end_run, execute, receive, record_result
from runners.planning import plan_execution
from runners.recovery.sweeper import waits as duty
from runners.segment.work import Work
from runners.states import ErrorType, WaitKind
from tests.support.rivals import Rivals, my_session
from tests.support.segments import Held, claimed, lease_runs_out, recorded, run_of, seen
from tests.support.single_thread import World, configured
from tests.support.watched import watched
from tests.support.workflows import ACTOR, effect, publish, start, states, task

LATE = Failure(ErrorType.TIMEOUT, "late", "StepTimeout")


def begun(*tasks: dict[str, Any], path: str = "a.main", **more: Any) -> tuple[UUID, Held]:
    """Start an execution of these tasks, and claim the run of one step."""
    execution = start(publish({"tasks": list(tasks), **more}))
    return execution, claimed(execution, path)


def test_the_row_of_a_step_holds_what_it_gave_told_and_took(queue: World) -> None:
    asked = {"kind": "large"}
    execution, held = begun(task("a", "test.odd", **{"with": asked}), effect("b", "a"))
    following = recorded(held)
    assert following is not None
    row = run_of(execution, "a.main")
    assert (row.state, row.outcome, row.error, row.error_type) == ("SUCCESS", "success", "", "")
    assert (len(row.outputs), row.inputs, row.error_details) == (2**20, asked, None)
    [line] = row.logs
    assert (line["level"], line["fields"]) == ("info", asked)
    assert row.duration_ms is not None
    assert (row.cached_from, row.inputs_hash) == (None, held[1].prepared.hash)  # type: ignore[union-attr]


def test_the_row_of_a_failure_holds_why_and_what_it_told(queue: World) -> None:
    fails = effect("a", failTimes=1, errorType="PERMANENT", tell={"row": 3}, named="stock")
    execution, held = begun(fails, effect("b"))
    assert recorded(held) is None
    row = run_of(execution, "a.main")
    assert (row.state, row.outcome, row.outputs, row.error) == ("DLQ", "", None, "try 1 fails")
    assert (row.error_type, row.error_details["fingerprint"]) == ("PERMANENT", "stock")
    assert row.error_details["exception"] == "StepError"
    assert states([execution])[execution] == "RUNNING", "the other branch goes on"
    lifecycle.cancel(execution, actor=ACTOR)


def test_the_next_attempt_gets_the_details_of_the_last(queue: World) -> None:
    again = {"maxAttempts": 2, "baseSeconds": 0, "jitter": 0}
    fails = effect("a", failTimes=1, tell={"row": 3}, retry=again, value="{{ execution.attempt }}")
    execution, held = begun(fails)
    assert recorded(held) is None
    queue._pass_time()
    state, work = claimed(execution, "a.main")
    assert (work.attempt, work.last_details) == (2, {"row": 3})
    recorded((state, work))
    row = run_of(execution, "a.main")
    assert (row.attempt, row.state, row.outputs) == (2, "SUCCESS", 2)


def test_the_worker_of_a_step_that_failed_goes_on_with_its_error_edge(queue: World) -> None:
    fails = effect("a", failTimes=1, errorType="PERMANENT")
    why = task("why", "flow.noop", "a:error", **{"with": {"value": "{{ tasks.a.error }}"}})
    execution, held = begun(fails, why, effect("b", "a"))
    following = recorded(held)
    assert following is not None
    assert (following.path, following.token) == ("why.main", 1)
    assert recorded((held[0], following)) is None
    error = {"message": "try 1 fails", "type": "PERMANENT", "step": "a.main"}
    assert run_of(execution, "why.main").outputs == error
    assert run_of(execution, "b.main").state == "SKIPPED"
    assert states([execution])[execution] == "SUCCESS"


def test_steps_in_memory_and_the_output_are_of_the_first_attempt(queue: World) -> None:
    shown = {"value": "{{ execution.attempt }}"}
    with configured(stretch_steps=32):
        execution, held = begun(
            task("a"),
            task("b", "flow.noop", "a", **{"with": shown}),
            output={"b": "{{ tasks.b.output }}", "own": "{{ execution.attempt }}"},
        )
        assert recorded(held) is None
    made = WorkflowExecution.objects.get(pk=execution)
    assert (made.state, made.output) == ("SUCCESS", {"b": 1, "own": 1})
    assert run_of(execution, "b.main").segment == "a.main"


def test_a_pure_step_that_fails_in_memory_is_a_run_of_its_own(queue: World) -> None:
    """A pure step that fails in memory has its own run: earlier steps count, and its failure is
    recorded as that of a claimed step.
    """
    broken = task("b", "flow.noop", "a", retry="none", **{"with": {"value": "{{ 1 / 0 }}"}})
    with configured(stretch_steps=32):
        execution, held = begun(task("a"), broken, task("c", "flow.noop", "b:error"))
        following = recorded(held)
        assert following is not None
        assert (following.path, run_of(execution, "b.main").state) == ("b.main", "RUNNING")
        last: Work | None = following
        while last is not None:
            last = recorded((held[0], last))
    found = {path: run_of(execution, f"{path}.main").state for path in "abc"}
    assert found == {"a": "SUCCESS", "b": "FAILED", "c": "SUCCESS"}
    assert states([execution])[execution] == "SUCCESS"


def test_pure_steps_that_a_worker_keeps_are_no_rows_yet(queue: World) -> None:
    """Pure steps that a worker keeps in memory have no rows yet, because other workers would run
    them too.
    """
    values = {"values": {"n": "{{ vars.n + 1 }}"}}
    first = task("a", "flow.set_variables", **{"with": values})
    pure = [task("b", after="a"), task("c", after="a")]
    with configured(stretch_steps=32):
        execution, (state, work) = begun(first, *pure, variables={"n": 1})
        queue.queue.clear()
        following = recorded((state, work))
        assert following is not None
        rows = Run.objects.filter(execution_id=execution)
        assert set(rows.values_list("step_path", "state")) == {
            ("a.main", "SUCCESS"), (following.path, "RUNNING"),
        }  # fmt: skip
        assert not queue.queue
        assert recorded((state, following)) is None
    assert states([execution])[execution] == "SUCCESS"


def test_a_worker_that_decided_its_joins_under_the_lock_plans_nothing_more(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned: list[UUID] = []
    monkeypatch.setattr(plan_execution, "advance", planned.append)
    execution = start(publish({"tasks": [effect("a")], "variables": {"n": 1},
                               "output": "{{ vars.n }}"}))  # fmt: skip
    [message] = [one for one in queue.queue if one.execution == execution]
    assert message.version is not None
    receive.run_segment(execution, message.version, message.segment)
    assert (states([execution])[execution], planned) == ("SUCCESS", [])


@pytest.mark.parametrize("output", [None, "{{ tasks.a.output }}"])
def test_a_task_that_is_skipped_is_so_at_its_first_step(queue: World, output: Any) -> None:
    steps = [{"id": name, "use": "test.effect", "with": {}} for name in ("one", "two")]
    rescue = {"id": "rescue", "after": "a:error", "modules": steps}
    execution, held = begun(effect("a"), rescue, effect("b", "a"), output=output)
    following = recorded(held)
    assert following is not None
    found = Run.objects.filter(execution_id=execution, step_path__startswith="rescue")
    assert dict(found.values_list("step_path", "state")) == {"rescue.one": "SKIPPED"}
    recorded((held[0], following))
    assert states([execution])[execution] == "SUCCESS"


def test_a_branch_that_a_worker_leaves_to_others_is_written_and_sent(queue: World) -> None:
    elsewhere = {**effect("c", "a"), "queue": "io"}
    execution, held = begun(effect("a"), effect("b", "a"), elsewhere)
    queue.queue.clear()
    with configured(segment_steps=32):
        following = recorded(held)
    assert following is not None
    assert (following.path, run_of(execution, "c.main").state) == ("b.main", "PENDING")
    assert [message.segment for message in queue.queue] == ["c.main"]
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_run_of_an_execution_that_is_over_cannot_be_ended_from_outside(queue: World) -> None:
    execution, (_, work) = begun(effect("a"))
    ends = "UPDATE executions_workflowexecution SET state = %s, finished_at = {} WHERE id = %s"
    with connection.cursor() as cursor:
        cursor.execute(ends.format("clock_timestamp()"), ["CANCELLED", execution])
    assert end_run.fail(work.execution_id, work.run_id, LATE) is False
    wait = Wait(WaitKind.TIMER, seconds=1)
    assert end_run.put_to_sleep(work.execution_id, work.run_id, wait, token=work.token) is False
    assert end_run.dead_letter(work.execution_id, work.run_id, LATE, manual="told to") is None
    assert run_of(execution, "a.main").state == "RUNNING"
    with connection.cursor() as cursor:
        cursor.execute(ends.format("NULL"), ["RUNNING", execution])
    assert end_run.fail(work.execution_id, work.run_id, LATE, token=work.token - 1) is False
    assert end_run.put_to_sleep(work.execution_id, work.run_id, wait, token=work.token - 1) is False
    assert end_run.put_to_sleep(work.execution_id, work.run_id, wait, token=work.token) is True
    assert run_of(execution, "a.main").state == "WAITING"
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_paused_executions_run_can_be_ended_and_is_tried_again_after_the_pause(
    queue: World,
) -> None:
    execution, (_, work) = begun(effect("a"))
    lifecycle.pause(execution, actor=ACTOR)
    assert end_run.fail(work.execution_id, work.run_id, LATE, token=work.token) is True
    assert (run_of(execution, "a.main").attempt, states([execution])[execution]) == (2, "PAUSED")
    lifecycle.cancel(execution, actor=ACTOR)


def test_the_watchdog_is_told_which_run_a_thread_prepares_and_executes(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = start(publish({"tasks": [effect("a")]}))
    state, run = seen(execution, "a.main")
    with watched(monkeypatch) as memory:
        request = claim_run.request_claim(state, run)
        assert request is not None
        prepares = memory.note()
        assert prepares is not None
        assert (prepares.run_id, prepares.token) == (run.id, 0)
        work = request.claimed(statements.fetch_one("claim", request.params))
        assert work is not None
        holds = memory.note()
        assert holds is not None
        assert (holds.run_id, holds.token) == (run.id, 1)
        unit = execute.perform(state, work)
        after = memory.note()
        assert after is not None
        assert after.phase != holds.phase, "what follows is not blamed on it"
        record_result.record(state, work, unit)
    assert states([execution])[execution] == "SUCCESS"


def test_a_woken_step_gets_the_inputs_with_which_it_began_to_wait(queue: World) -> None:
    waits = task("a", "test.wait", **{"with": {"value": "{{ vars.n }}"}})
    execution, held = begun(waits, variables={"n": 1})
    assert recorded(held) is None
    WorkflowExecution.objects.filter(pk=execution).update(context_data={"n": 2})
    queue._pass_time()
    duty.due_timers()
    state, run = seen(execution, "a.main")
    assert not state.resumed, "the one that suspended it left nothing behind"
    Run.objects.filter(pk=run.id).update(publications=2)
    assert seen(execution, "a.main")[0].resumed, "sent twice, so another may have had it"
    again, work = claimed(execution, "a.main")
    assert work.prepared is not None
    assert work.prepared.value["value"] == 1
    recorded((again, work))
    assert (run_of(execution, "a.main").outputs, states([execution])[execution]) == (1, "SUCCESS")


def test_a_claimed_step_holds_its_lease_for_as_long_as_configured(queue: World) -> None:
    execution, (_, work) = begun(effect("a"))
    row = run_of(execution, "a.main")
    assert row.lease_until is not None
    assert row.started_at is not None
    assert abs((row.lease_until - row.started_at).total_seconds() - config().lease) < 1
    assert (row.leased_by, row.lease_token, work.token) == (work.holder, 1, 1)
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_pure_step_in_memory_is_told_of_its_first_attempt(queue: World) -> None:
    with configured(stretch_steps=32):
        execution, held = begun(task("a"), task("b", "test.pure", "a"))
        assert recorded(held) is None
    row = run_of(execution, "b.main")
    told = {"attempt": 1, "key": row.idempotency_key, "path": "b.main"}
    assert (row.state, row.outputs) == ("SUCCESS", told)


@pytest.mark.parametrize("first", ["test.pure", "flow.noop"])
@pytest.mark.parametrize(
    ("given", "error_type", "words"),
    [
        ({"seconds": 5}, "TIMEOUT", "did not finish within its timeout of 0.1 s"),
        ({"waits": True}, "PERMANENT", "A step that runs inline cannot wait"),
    ],
)
def test_a_pure_step_that_takes_long_or_waits_fails(
    queue: World, first: str, given: dict[str, Any], error_type: str, words: str
) -> None:
    """A pure step that takes long or waits fails, both as the claimed step and as a later step in
    memory.
    """
    misbehaves = {"with": given, "retry": "none", "timeoutSeconds": 0.1}
    tasks = [task("a"), task("b", "test.pure", "a", **misbehaves)]
    path = "a.main"
    if first == "test.pure":
        tasks, path = [task("b", "test.pure", **misbehaves)], "b.main"
    with configured(stretch_steps=32):
        execution, (state, work) = begun(*tasks, path=path)
        following: Work | None = work
        while following is not None:
            following = recorded((state, following))
    row = run_of(execution, "b.main")
    assert (row.state, row.error_type) == ("DLQ", error_type)
    assert words in row.error
    assert states([execution])[execution] == "FAILED"


def test_the_time_that_its_inputs_took_counts_towards_a_steps_time(queue: World) -> None:
    execution, (state, work) = begun(effect("a", seconds=9, retry="none", timeoutSeconds=2))
    assert work.prepared is not None
    work.prepared = replace(work.prepared, seconds=1.4)
    assert recorded((state, work)) is None
    row = run_of(execution, "a.main")
    assert (row.state, row.error_type) == ("DLQ", "TIMEOUT")
    assert row.duration_ms is not None
    assert row.duration_ms < 1_900


def test_a_row_holds_how_long_its_step_took(queue: World) -> None:
    fails = effect("a", seconds=0.1, failTimes=1, retry="none")
    execution, held = begun(fails, task("b", "test.wait", **{"with": {"seconds": 0}}))
    recorded(held)
    recorded(claimed(execution, "b.main"))
    failed, waits = run_of(execution, "a.main"), run_of(execution, "b.main")
    assert failed.duration_ms is not None
    assert waits.duration_ms is not None
    assert 100 <= failed.duration_ms < 5_000
    assert waits.duration_ms < 1_000
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_worker_takes_no_more_steps_than_a_segment_may_have(queue: World) -> None:
    chain = [effect(f"s{n}", f"s{n - 1}" if n else None) for n in range(4)]
    with configured(segment_steps=2, segment_seconds=10_000):
        execution, held = begun(*chain, path="s0.main")
        queue.queue.clear()
        second = recorded(held)
        assert second is not None
        assert recorded((held[0], second)) is None
    assert [message.segment for message in queue.queue] == ["s2.main"]
    assert run_of(execution, "s2.main").state == "PENDING"
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_message_of_a_step_that_fails_fails_with_its_error(queue: World) -> None:
    """If a step fails, its message fails with the same error, so that Flower and Celery's logs
    show it.
    """
    fails = effect("a", failTimes=1, errorType="PERMANENT")
    execution = start(publish({"tasks": [fails, effect("b", "a:error")]}))
    [message] = [one for one in queue.queue if one.execution == execution]
    assert message.version is not None
    with configured(segment_steps=32), pytest.raises(StepFailed, match="StepError: try 1 fails"):
        receive.run_segment(execution, message.version, message.segment)
    assert states([execution])[execution] == "SUCCESS", "the error edge handled it"


def test_a_step_alone_hands_on_what_follows_and_says_whether_it_kept_its_lease(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step alone hands on the next work and says whether it kept its lease, as the child process
    of a suspect does.
    """
    version = publish({"tasks": [effect("a"), effect("b", "a")]})
    first, second = start(version), start(version)
    of = WorkflowExecution.objects.get(pk=first).version_id
    queue.queue.clear()
    assert receive.run_one_step(first, of, "a.main") is True
    assert [message.segment for message in queue.queue] == ["b.main"]
    assert run_of(first, "b.main").state == "PENDING"
    assert receive.run_one_step(first, of, "a.main") is True, "there is nothing to do"
    perform = execute.perform

    def overtaken(state: Any, work: Work) -> Any:
        unit = perform(state, work)
        lease_runs_out(work.run_id)
        claimed(second, "a.main")
        return unit

    monkeypatch.setattr(execute, "perform", overtaken)
    assert receive.run_one_step(second, of, "a.main") is False
    assert run_of(second, "a.main").lease_token == 2
    for execution in (first, second):
        lifecycle.cancel(execution, actor=ACTOR)


def cut() -> None:
    """End this thread's session, as a restarted server does."""
    mine = my_session()

    def end() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [mine])

    with Rivals(1) as other:
        other.begin(end).result(60)


@pytest.mark.parametrize("use", ["test.effect", "test.spender"])
def test_a_result_is_recorded_once_though_the_connection_was_cut_meanwhile(
    queue: World, use: str
) -> None:
    """A result is recorded once although the connection was cut: a step with costs is recorded in a
    transaction, which cannot be repeated.
    """
    execution, (state, work) = begun(task("a", use), effect("b", "a"))
    unit = execute.perform(state, work)
    cut()
    following = record_result.record(state, work, unit)
    assert following is not None
    assert (following.path, run_of(execution, "a.main").state) == ("b.main", "SUCCESS")
    lifecycle.cancel(execution, actor=ACTOR)


def test_a_record_in_a_transaction_that_was_cut_is_not_repeated(queue: World) -> None:
    execution, (state, work) = begun(effect("a"))
    unit = execute.perform(state, work)

    @transaction.atomic
    def record() -> None:
        cut()
        record_result.record(state, work, unit)

    with pytest.raises(OperationalError):
        record()
    connection.close()
    assert run_of(execution, "a.main").state == "RUNNING"
    record_result.record(state, work, unit)
    assert states([execution])[execution] == "SUCCESS"


def test_a_pure_step_may_take_half_of_its_lease_and_another_its_own_time(queue: World) -> None:
    _, (_, pure) = begun(task("a", timeoutSeconds=600))
    execution, (_, other) = begun(effect("a", timeoutSeconds=600))
    assert execute.seconds_for(pure.step) == config().lease / 2
    assert execute.seconds_for(other.step) == 600
    lifecycle.cancel(execution, actor=ACTOR)


def test_only_the_first_step_of_a_message_tells_how_long_it_waited_for_its_claim(
    queue: World,
) -> None:
    execution = start(publish({"tasks": [effect("a"), effect("b")]}))
    state, first = seen(execution, "a.main")
    _, second = seen(execution, "b.main")
    before = histogram()
    assert claim_run.claim(state, first) is not None
    once = histogram()
    assert claim_run.claim(state, second) is not None
    assert (once[0] - before[0], histogram()) == (1, once)
    assert once[1] - before[1] < 30, "seconds"
    lifecycle.cancel(execution, actor=ACTOR)


def histogram() -> tuple[float, float]:
    """Return how many claims were timed, and the sum of their seconds."""
    [family] = metrics.LEASE.collect()
    totals = {"_count": 0.0, "_sum": 0.0}
    for sample in family.samples:
        for end in totals:
            totals[end] += sample.value if sample.name.endswith(end) else 0
    return totals["_count"], totals["_sum"]
