"""The reasons why an execution does not run, from rows without a database."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from executions.definition.graph.plan import StepFact, StepStatus
from executions.explain.execution import PauseRecord, QueuePosition, standing
from executions.models import WorkflowExecution
from runners.explain.explanation import waiting_tasks
from runners.explain.steps import Around, step_reason
from runners.models import Run
from tests.support.compiled import graph_of
from tests.support.workflows import task

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
STOPPED = "Item 1 failed, so no further item is started."
SOON, AGO = NOW + timedelta(seconds=30), NOW - timedelta(seconds=30)


def around(**facts: Any) -> Around:
    return Around(NOW, **{"served": frozenset({"default"}), **facts})


def run(state: str, **columns: Any) -> Run:
    return Run(pk=uuid4(), state=state, queue="default", queued_at=AGO, started_at=AGO, **columns)


def pending(**columns: Any) -> Run:
    return run("PENDING", **{"published_at": AGO, "publications": 1, "due_at": SOON, **columns})


def held(**columns: Any) -> Run:
    times = {"lease_until": SOON, "deadline_at": SOON, "heartbeat_at": AGO}
    return run("RUNNING", leased_by="w1@host|7|x", **{**times, **columns})


def waiting(kind: str, **columns: Any) -> Run:
    return run("WAITING", waits_for=kind, **columns)


def test_a_step_that_was_sent_waits_for_those_before_it() -> None:
    row = pending(publications=3)
    reason = step_reason(row, around(before={row.pk: 1234}))
    assert reason.code == "in_queue"
    assert "about 1,234 messages are before it" in reason.message
    assert "sent 3 times" in reason.message
    assert reason.details["sent"] == 3
    assert reason.since == AGO


def test_a_suspect_says_what_happened_and_that_it_runs_apart() -> None:
    reason = step_reason(pending(suspect=True), around())
    assert reason.code == "in_queue"
    assert "for an unknown reason" in reason.message
    assert "in a separate process" in reason.message


def test_a_suspect_that_waits_for_its_process_names_its_crashes() -> None:
    cause = "its process was ended by SIGSEGV"
    row = pending(suspect=True, crashes=2, crash_cause=cause, published_at=None, retry_after=SOON)
    reason = step_reason(row, around())
    assert (reason.code, reason.until) == ("isolation_due", SOON)
    assert "2 times" in reason.message
    assert "SIGSEGV" in reason.message
    assert reason.details == {"crashes": 2, "crashCause": cause}


def test_a_queue_that_no_worker_listens_to_is_named() -> None:
    row = pending()
    row.queue = "gpu"
    reason = step_reason(row, around())
    assert reason.code == "no_worker"
    assert "'gpu'" in reason.message


def test_what_the_broker_did_not_take_is_said_to_be_not_sent() -> None:
    reason = step_reason(pending(published_at=None, due_at=AGO), around())
    assert (reason.code, reason.since) == ("not_sent", AGO)
    assert "the broker did not answer" in reason.message


def test_a_retry_says_when_it_is_due_and_why_it_is_one() -> None:
    row = pending(retry_after=SOON, published_at=None, attempt=7, budget_start=5)
    reason = step_reason(row, around(failed={row.pk: "boom"}, most={row.pk: 4}))
    assert (reason.code, reason.until) == ("retry_due", SOON)
    assert reason.message == (
        "Attempt 3 of 4 is due at 2026-11-21 12:00:30 UTC. The previous attempt failed: boom"
    )
    late = pending(retry_after=AGO, published_at=None)
    assert "is sent within seconds" in step_reason(late, around()).message
    sent = pending(retry_after=AGO)
    assert step_reason(sent, around()).code == "in_queue"


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"state": "PAUSED"}, "execution_paused"),
        ({"place": "WANTED"}, "execution_waits"),
        ({"state": "PENDING"}, "execution_waits"),
        ({"state": "FAILED"}, "execution_over"),
    ],
)
def test_a_step_that_is_ready_waits_for_its_execution(facts: dict[str, str], code: str) -> None:
    retry = pending(retry_after=SOON, published_at=None)
    assert step_reason(retry, around(**facts)).code == code


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({}, "executing"),
        ({"lease_until": AGO}, "lease_expired"),
        ({"lease_until": AGO, "deadline_at": AGO}, "past_deadline"),
    ],
)
def test_a_step_that_is_held_names_its_worker(columns: dict[str, Any], code: str) -> None:
    reason = step_reason(held(**columns), around())
    assert reason.code == code
    assert "Worker w1@host " in reason.message
    assert reason.details["runner"] == "w1@host"
    assert reason.details["leaseUntil"].endswith("Z")


def test_waits_say_what_for_and_how_long() -> None:
    timer = step_reason(waiting("timer", due_at=SOON), around())
    assert (timer.code, timer.until) == ("waiting_for_timer", SOON)
    row = waiting("approval", progress={"title": "Ship it?", "approvers": ["ann", "ADMIN"]})
    approval = step_reason(row, around(noticed={row.pk: NOW}))
    assert (approval.code, approval.since, approval.until) == ("waiting_for_approval", NOW, None)
    assert "'Ship it?' by ann, ADMIN" in approval.message
    assert "without a time limit" in approval.message
    anybody = step_reason(waiting("approval", progress={"title": "x"}, due_at=SOON), around())
    assert "anyone who may operate" in anybody.message
    assert anybody.until == SOON
    row = waiting("event", progress={"event": "paid"})
    event = step_reason(row, around(filters={row.pk: "{{ event.n > 1 }}"}))
    assert event.code == "waiting_for_event"
    assert "an event 'paid' for which {{ event.n > 1 }} is true" in event.message
    callback = step_reason(waiting("callback", progress={"title": "the bank"}), around())
    assert callback.code == "waiting_for_callback"
    assert "(the bank)" in callback.message


@pytest.mark.parametrize(("state", "soon"), [("RUNNING", False), ("SUCCESS", True)])
def test_a_wait_for_a_child_says_how_the_child_is(state: str, soon: bool) -> None:
    child = str(uuid4())
    row = waiting("child", progress={"executionId": child, "workflow": "ship"})
    reason = step_reason(row, around(children={child: state}))
    assert reason.code == "waiting_for_child"
    assert reason.details == {"executionId": child, "workflow": "ship", "state": state}
    assert ("within seconds" in reason.message) is soon


@pytest.mark.parametrize(
    ("progress", "sentence"),
    [
        ({"index": 2, "count": 10}, "Its body is running: iteration 3 of 10."),
        ({"index": 2, "most": 50}, "Its body is running: iteration 3 (at most 50)."),
        (
            {"total": 100, "wide": 3, "next": 12, "open": [8, 9, 11], "done": 9},
            "Its body is running: 9 of 100 items are done, 3 in progress: 8, 9, 11.",
        ),
        (
            {"total": 5, "wide": 3, "next": 2, "open": [0], "failed": 1},
            f"Its body is running: 1 of 5 items are done, 1 in progress: 0. {STOPPED}",
        ),
        (None, "Its body is running."),
    ],
)
def test_a_container_says_how_far_its_body_is(progress: Any, sentence: str) -> None:
    reason = step_reason(waiting("body", progress=progress), around())
    assert (reason.code, reason.message) == ("waiting_for_body", sentence)


def test_a_dead_step_names_its_open_dead_letter() -> None:
    row, letter = run("DLQ", error="boom", error_type="PERMANENT", finished_at=NOW), uuid4()
    assert step_reason(row, around()).code == "given_up"
    reason = step_reason(row, around(letters={row.pk: letter}))
    assert reason.code == "dead_letter"
    assert reason.details == {"deadLetterId": str(letter), "errorType": "PERMANENT"}


def test_a_task_that_has_not_begun_names_those_it_waits_for() -> None:
    graph = graph_of(
        {"tasks": [task("a"), task("b"), task("c", after=["a", "b"]), task("d", after="c")]}
    )
    a, b = (graph.by_path[f"{name}.main"] for name in ("a", "b"))
    facts = {a: StepFact(StepStatus.DONE, "success"), b: StepFact(StepStatus.LIVE)}
    found = {each.id: reason for each, reason in waiting_tasks(graph, "x[0].", facts)}
    assert {name: reason.code for name, reason in found.items()} == {
        "c": "waiting_for_tasks",
        "d": "waiting_for_tasks",
    }
    assert found["c"].details == {"tasks": ["x[0].b"]}
    facts[b] = StepFact(StepStatus.DEAD)
    found = {each.id: reason for each, reason in waiting_tasks(graph, "", facts)}
    assert found["c"].code == "blocked_by_dead_step"
    assert found["c"].details == {"tasks": ["b"], "dead": ["b"]}
    assert found["d"].code == "waiting_for_tasks"


def execution(**columns: Any) -> WorkflowExecution:
    given = {"state": "RUNNING", "created_at": AGO, "started_at": AGO, "workspace_id": uuid4()}
    return WorkflowExecution(**{**given, **columns})


def test_an_execution_that_waits_for_a_place_knows_its_position() -> None:
    line = QueuePosition("Default", 3, 3, 5)
    reason = standing(execution(state="PENDING"), line, None)
    assert reason.code == "waiting_for_place"
    assert "3 of 3 executions run in workspace Default, and 5 are before it" in reason.message
    assert reason.details["ahead"] == 5
    free = standing(execution(state="PENDING"), QueuePosition("Default", 3, 2, 0), None)
    assert free.code == "about_to_start"
    many = standing(execution(state="PENDING"), QueuePosition("Default", 3, 3, 10_000), None)
    assert "10000 or more are before it" in many.message


def test_an_execution_that_waits_for_its_key_names_the_holders() -> None:
    holder = uuid4()
    row = execution(state="PENDING", concurrency_key="ann", concurrency_limit=2)
    reason = standing(row, QueuePosition("Default", None, 0, 9, (holder,), 2, 4), None)
    assert reason.code == "waiting_for_key"
    assert f"'ann', which {holder} and 1 more hold" in reason.message
    assert reason.details == {
        "key": "ann", "limit": 2, "executionIds": [str(holder)], "ahead": 4,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "code"),
    [
        ({}, "running"),
        ({"place": "FREE"}, "asleep"),
        ({"place": "WANTED"}, "woken_waits_for_place"),
        ({"state": "PAUSED"}, "paused"),
        ({"state": "FAILED", "finished_at": NOW, "error_message": "boom"}, "finished"),
    ],
)
def test_an_execution_says_where_it_is(columns: dict[str, Any], code: str) -> None:
    assert standing(execution(**columns), QueuePosition("Default", 1, 1, 0), None).code == code


def test_a_pause_says_who_paused_when_and_why() -> None:
    reason = standing(execution(state="PAUSED"), None, PauseRecord("ann", NOW, "maintenance"))
    assert reason.message.startswith("Paused by ann at 2026-11-21 12:00:00 UTC (maintenance).")
    assert reason.since == NOW


def test_a_run_held_by_a_plugin_that_is_gone_waits_for_its_timer() -> None:
    row = waiting("circuit", due_at=SOON, progress={"target": "http.request:a"})
    reason = step_reason(row, around(noticed={row.pk: AGO}))
    assert reason.code == "waiting_for_circuit"
    assert "(circuit) by a plugin that is no longer installed" in reason.message
    assert "continues at 2026-11-21 12:00:30 UTC" in reason.message
    assert (reason.since, reason.until) == (AGO, SOON)
    assert reason.details == {"target": "http.request:a"}
