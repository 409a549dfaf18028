from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from dlq.intake.quarantine import quarantine
from dlq.models import DeadLetterEntry
from dlq.resolve.discard import discard
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.errors import NotFound, WrongState
from executions.models import Activity, WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.modules import marks
from tests.support.outages import wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    effect,
    limited_workspace,
    publish,
    start,
    start_many,
    states,
    task,
    wait_for_end,
)


def state(execution_id: UUID) -> str:
    return states([execution_id])[execution_id]


def runs(execution_id: UUID, path: str) -> list[Run]:
    return list(Run.objects.filter(execution_id=execution_id, step_path=path).order_by("attempt"))


def has_run(execution_id: UUID, path: str, wanted: str) -> Callable[[], bool]:
    return lambda: any(run.state == wanted for run in runs(execution_id, path))


def failed(document: dict[str, object]) -> tuple[UUID, DeadLetterEntry]:
    execution_id = start(publish(document))
    wait_for_end([execution_id])
    assert state(execution_id) == "FAILED"
    return execution_id, DeadLetterEntry.objects.get(execution_id=execution_id)


BROKEN = {
    "output": "{{ tasks.after.output }}",
    "tasks": [
        effect("bad", failTimes=1, errorType="PERMANENT", value={"a": {"b": 1, "c": 2}}),
        effect("after", "bad", value="{{ tasks.bad.output }}"),
    ],
}


def test_a_requeued_dead_letter_goes_home_with_merged_overrides(fleet: Fleet) -> None:
    execution_id, entry = failed(BROKEN)
    assert entry.failure_type == "PERMANENT_ERROR"
    run = requeue(entry.pk, actor=ACTOR, overrides={"value": {"a": {"b": 7}}}, reason="typo")
    wait_for_end([execution_id])
    execution = WorkflowExecution.objects.get(pk=execution_id)
    assert (execution.state, execution.error_message) == ("SUCCESS", "")
    assert execution.output == {"a": {"b": 7, "c": 2}}
    first, second = runs(execution_id, "bad.main")
    assert (first.state, second.state, second.pk) == ("DLQ", "SUCCESS", run.pk)
    assert first.idempotency_key != second.idempotency_key
    entry.refresh_from_db()
    assert (entry.resolution, entry.requeued_run_id) == ("REQUEUED", run.pk)
    assert Activity.objects.filter(object_id=entry.pk, reason="typo").exists()
    audit([execution_id])


def test_a_requeue_after_used_up_retries_keeps_the_key_and_gets_new_tries(fleet: Fleet) -> None:
    quick = {"maxAttempts": 2, "baseSeconds": 0.05}
    execution_id, entry = failed({"tasks": [effect("flaky", failTimes=3, retry=quick)]})
    assert entry.failure_type == "MAX_RETRIES"
    requeue(entry.pk, actor=ACTOR)
    wait_for_end([execution_id])
    assert state(execution_id) == "SUCCESS"
    tries = runs(execution_id, "flaky.main")
    assert [run.attempt for run in tries] == [1, 2, 3, 4]
    assert len({run.idempotency_key for run in tries}) == 1
    audit([execution_id])


def test_a_dead_letter_is_resolved_once(fleet: Fleet) -> None:
    _, entry = failed(BROKEN)
    discard(entry.pk, actor=ACTOR, notes="known")
    for again in (discard, requeue):
        with pytest.raises(WrongState, match="DISCARDED"):
            again(entry.pk, actor=ACTOR)


def test_a_cancelled_execution_takes_no_dead_letter_back(fleet: Fleet) -> None:
    document = {
        "tasks": [effect("bad", failTimes=1, errorType="PERMANENT"), effect("slow", seconds=30)]
    }
    execution_id = start(publish(document))
    wait_until(has_run(execution_id, "bad.main", "DLQ"), 20, "a dead letter")
    lifecycle.cancel(execution_id, actor=ACTOR)
    entry = DeadLetterEntry.objects.get(execution_id=execution_id)
    with pytest.raises(WrongState, match="CANCELLED"):
        requeue(entry.pk, actor=ACTOR)


def test_a_dead_letter_can_go_home_while_its_execution_still_runs(fleet: Fleet, held: Path) -> None:
    slow = effect("slow", whileThere=str(held))
    document = {"tasks": [effect("bad", failTimes=1, errorType="PERMANENT"), slow]}
    execution_id = start(publish(document))
    wait_until(has_run(execution_id, "bad.main", "DLQ"), 20, "a dead letter")
    assert state(execution_id) == "RUNNING"
    requeue(DeadLetterEntry.objects.get(execution_id=execution_id).pk, actor=ACTOR)
    held.unlink()
    assert wait_for_end([execution_id])[execution_id] == "SUCCESS"
    audit([execution_id])


def test_a_quarantined_running_step_is_dead_and_its_result_refused(
    fleet: Fleet, held: Path
) -> None:
    slow = effect("slow", whileThere=str(held))
    execution_id = start(publish({"tasks": [slow, effect("next", "slow")]}))
    wait_until(has_run(execution_id, "slow.main", "RUNNING"), 20, "the step to run")
    [run] = runs(execution_id, "slow.main")
    entry = quarantine(run.pk, actor=ACTOR, reason="looks wrong")
    held.unlink()
    assert (entry.failure_type, entry.failure_reason) == ("MANUAL", "looks wrong")
    assert wait_for_end([execution_id])[execution_id] == "FAILED"
    with pytest.raises(WrongState, match="DLQ"):
        quarantine(run.pk, actor=ACTOR, reason="again")
    with pytest.raises(NotFound):
        quarantine(execution_id, actor=ACTOR, reason="no run")
    requeue(entry.pk, actor=ACTOR)
    assert wait_for_end([execution_id])[execution_id] == "SUCCESS"


def test_a_pause_lets_the_running_step_end_and_starts_nothing_new(fleet: Fleet, held: Path) -> None:
    one = effect("one", whileThere=str(held))
    execution_id = start(publish({"tasks": [one, effect("two", "one"), effect("three", "two")]}))
    wait_until(has_run(execution_id, "one.main", "RUNNING"), 20, "the step to run")
    lifecycle.pause(execution_id, actor=ACTOR)
    held.unlink()
    wait_until(has_run(execution_id, "one.main", "SUCCESS"), 20, "the step's end")
    assert state(execution_id) == "PAUSED"
    assert [run.state for run in runs(execution_id, "two.main")] == ["PENDING"]
    with pytest.raises(WrongState, match="PAUSED"):
        lifecycle.pause(execution_id, actor=ACTOR)
    lifecycle.resume(execution_id, actor=ACTOR)
    assert wait_for_end([execution_id])[execution_id] == "SUCCESS"
    audit([execution_id])


def test_resuming_ends_an_execution_whose_last_step_ended_during_the_pause(
    fleet: Fleet, held: Path
) -> None:
    execution_id = start(publish({"tasks": [effect("only", whileThere=str(held))]}))
    wait_until(has_run(execution_id, "only.main", "RUNNING"), 20, "the step to run")
    lifecycle.pause(execution_id, actor=ACTOR)
    held.unlink()
    wait_until(has_run(execution_id, "only.main", "SUCCESS"), 20, "the step's end")
    assert state(execution_id) == "PAUSED"
    assert lifecycle.resume(execution_id, actor=ACTOR).state == "SUCCESS"


def test_cancelling_ends_it_at_once_and_refuses_the_late_result(fleet: Fleet, held: Path) -> None:
    slow = effect("slow", whileThere=str(held))
    execution_id = start(publish({"tasks": [slow, effect("next", "slow")]}))
    begun = wait_for_mark(execution_id, "slow.main")
    execution = lifecycle.cancel(execution_id, actor=ACTOR, reason="mistake")
    assert execution.state == "CANCELLED"
    assert execution.metrics_snapshot["runs"] == 1
    assert [run.state for run in runs(execution_id, "slow.main")] == ["CANCELLED"]
    held.unlink()
    log = fleet.member_of(begun["pid"]).log
    wait_until(lambda: f"fenced: run {begun['run']}" in log.read_text(), 20, "the late result")
    assert [run.state for run in runs(execution_id, "slow.main")] == ["CANCELLED"]
    assert all(mark["step"] != "next.main" for mark in marks(execution_id))
    with pytest.raises(WrongState, match="CANCELLED"):
        lifecycle.cancel(execution_id, actor=ACTOR)


def test_an_execution_past_its_deadline_times_out(fleet: Fleet) -> None:
    document = {"settings": {"timeoutSeconds": 1}, "tasks": [effect("slow", seconds=60)]}
    execution_id = start(publish(document))
    assert wait_for_end([execution_id])[execution_id] == "TIMEOUT"
    assert [run.state for run in runs(execution_id, "slow.main")] == ["CANCELLED"]
    assert not DeadLetterEntry.objects.filter(execution_id=execution_id).exists()


def test_a_limited_workspace_runs_so_many_at_once_and_all_in_the_end(
    fleet: Fleet, held: Path
) -> None:
    workflow = publish({"tasks": [effect("one", whileThere=str(held))]}, limited_workspace(2))
    ids = start_many(workflow, [{}] * 7)
    assert sorted(states(ids).values()) == ["PENDING"] * 5 + ["RUNNING"] * 2
    held.unlink()
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)


def test_a_dead_letter_of_a_full_workspace_waits_for_its_turn(fleet: Fleet, held: Path) -> None:
    workspace = limited_workspace(1)
    failing = publish({"tasks": [effect("bad", failTimes=1, errorType="PERMANENT")]}, workspace)
    execution_id = start(failing)
    wait_for_end([execution_id])
    blocker = start(publish({"tasks": [effect("slow", whileThere=str(held))]}, workspace))
    requeue(DeadLetterEntry.objects.get(execution_id=execution_id).pk, actor=ACTOR)
    assert state(execution_id) == "PENDING"
    held.unlink()
    assert set(wait_for_end([blocker, execution_id]).values()) == {"SUCCESS"}
    audit([blocker, execution_id])


def test_equal_failures_share_a_fingerprint_and_others_do_not(fleet: Fleet) -> None:
    workflow = publish(
        {"tasks": [task("fail", "flow.fail", **{"with": {"message": "{{ input.text }}"}})]}
    )
    texts = ["order 17 of 'ann' not found", "order 18 of 'bob' not found", "something else"]
    ids = start_many(workflow, [{"text": text} for text in texts])
    wait_for_end(ids)
    found = [DeadLetterEntry.objects.get(execution_id=pk).fingerprint for pk in ids]
    assert found[0] == found[1] != found[2]
