"""Every possible reason why an execution does not run, over HTTP."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import Tier, WorkflowExecution, Workspace
from runners.models import Run, Runner, Waiter

pytestmark = pytest.mark.django_db

STEP = {"path", "taskId", "runId", "state", "attempt", "reason"}
REASON = {"code", "message", "since", "until", "details"}
TWO = {
    "schema": "valkyr/1",
    "name": "two",
    "tasks": [
        {"id": "one", "use": "http.request", "with": {"url": "https://example.org/"}},
        {"id": "two", "use": "flow.noop", "after": "one"},
    ],
}
CHILD = "00000000-0000-7000-8000-000000000000"


def later(seconds: float) -> Any:
    return database_now() + timedelta(seconds=seconds)


@pytest.fixture
def make(author: APIClient) -> Callable[..., str]:
    """Return a function that publishes a definition and returns the workflow's id."""

    def made(definition: dict[str, Any]) -> str:
        answer = author.post("/v1/Workflow", {"definition": definition}, format="json")
        assert answer.status_code == 201, answer.content
        published = author.post(f"/v1/Workflow/{answer.data['id']}/publish")
        assert published.status_code == 201, published.content
        return str(answer.data["id"])

    return made


@pytest.fixture
def begin(author: APIClient) -> Callable[..., str]:
    """Return a function that starts a workflow and returns the execution's id."""

    def begun(workflow: str, params: Any = None) -> str:
        address = f"/v1/WorkflowExecution/{workflow}/execute"
        answer = author.post(address, {"params": params or {}}, format="json")
        assert answer.status_code == 202, answer.content
        return str(answer.data["id"])

    return begun


@pytest.fixture
def execution(make: Callable[..., str], begin: Callable[..., str]) -> str:
    """Start an execution whose first step was sent to the queue `io`."""
    return begin(make(TWO))


@pytest.fixture
def worker(db: None) -> Runner:
    return Runner.objects.create(
        name="io@host", host="host", pid=1, pool="threads", queues=["io", "default"]
    )


def explained(client: APIClient, execution: str) -> dict[str, Any]:
    answer = client.get(f"/v1/WorkflowExecution/{execution}/explain")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    assert set(found["reason"]) == REASON
    assert all(set(step) == STEP and set(step["reason"]) == REASON for step in found["steps"])
    return found


def first(client: APIClient, execution: str) -> dict[str, Any]:
    """Return the first step's reason."""
    reason: dict[str, Any] = explained(client, execution)["steps"][0]["reason"]
    return reason


def put(execution: str, **columns: Any) -> Run:
    """Change the execution's only run, as if it had progressed this far."""
    Run.objects.filter(execution_id=execution).update(**columns)
    return Run.objects.get(execution_id=execution)


def test_an_execution_under_way_explains_its_steps_and_its_tasks(
    author: APIClient, execution: str
) -> None:
    found = explained(author, execution)
    run = Run.objects.get(execution_id=execution)

    assert set(found) == {
        "executionId", "state", "explainedAt", "reason", "steps", "containers", "truncated",
    }  # fmt: skip
    assert found["executionId"] == execution
    assert (found["state"], found["reason"]["code"]) == ("RUNNING", "running")
    assert (found["containers"], found["truncated"]) == ([], False)
    step, task = found["steps"]
    assert (step["path"], step["runId"], step["state"]) == ("one.main", str(run.pk), "PENDING")
    assert (task["path"], task["runId"], task["state"]) == ("two", None, None)
    assert task["reason"]["code"] == "waiting_for_tasks"
    assert task["reason"]["details"] == {"tasks": ["one"]}


def test_a_queue_without_a_worker_is_told_from_a_backlog(
    author: APIClient, execution: str, worker: Runner
) -> None:
    assert first(author, execution)["code"] == "in_queue"
    Runner.objects.update(leaving_at=later(0))
    assert first(author, execution)["code"] == "no_worker"
    Runner.objects.update(leaving_at=None, seen_at=later(-36))
    reason = first(author, execution)
    assert reason["code"] == "no_worker"
    assert reason["details"]["queue"] == "io"


def test_those_before_it_in_the_queue_are_counted(
    author: APIClient, make: Callable[..., str], begin: Callable[..., str], worker: Runner
) -> None:
    workflow = make(TWO)
    found = [first(author, begin(workflow))["details"]["ahead"] for _ in range(3)]
    assert found == [0, 1, 2]


WAITING = {"state": "WAITING", "started_at": None}


@pytest.mark.parametrize(
    ("columns", "code", "details"),
    [
        (
            {"state": "PENDING", "published_at": None, "retry_after": 30, "attempt": 2},
            "retry_due",
            {"attempt": 2, "maxAttempts": 3},
        ),
        ({"state": "RUNNING", "lease_until": 9, "deadline_at": 9}, "executing", {"runner": "w1"}),
        ({"state": "LEASED", "lease_until": -9}, "lease_expired", {"runner": "w1"}),
        ({"state": "RUNNING", "lease_until": 9, "deadline_at": -1}, "past_deadline", {}),
        ({**WAITING, "waits_for": "timer", "due_at": 30}, "waiting_for_timer", {}),
        (
            {**WAITING, "waits_for": "approval", "progress": {"title": "Ship?", "approvers": []}},
            "waiting_for_approval",
            {"title": "Ship?", "approvers": []},
        ),
        (
            {**WAITING, "waits_for": "event", "progress": {"event": "paid"}},
            "waiting_for_event",
            {"event": "paid", "filter": None},
        ),
        (
            {**WAITING, "waits_for": "callback", "progress": {"title": "bank"}},
            "waiting_for_callback",
            {"title": "bank"},
        ),
        (
            {**WAITING, "waits_for": "child", "progress": {"executionId": CHILD, "workflow": "x"}},
            "waiting_for_child",
            {"executionId": CHILD, "state": "unknown"},
        ),
        (
            {**WAITING, "waits_for": "body", "progress": {"index": 1, "count": 3}},
            "waiting_for_body",
            {"index": 1, "count": 3},
        ),
    ],
)
def test_a_step_says_why_it_is_not_done(
    author: APIClient, execution: str, columns: dict[str, Any], code: str, details: dict[str, Any]
) -> None:
    times = {"retry_after", "lease_until", "deadline_at", "due_at"}
    given = {k: later(v) if k in times else v for k, v in columns.items()}
    put(execution, leased_by="w1|7", lease_token=1, **given)

    reason = first(author, execution)

    assert reason["code"] == code
    assert details.items() <= reason["details"].items()
    assert reason["message"].endswith((".", "boom"))


def test_what_listens_says_since_when(
    author: APIClient, execution: str, workspace: Workspace
) -> None:
    run = put(execution, state="WAITING", waits_for="approval", progress={"title": "Ship?"})
    waiter = Waiter.objects.create(
        run=run, execution_id=execution, workspace=workspace, kind="approval"
    )
    waiter.refresh_from_db()
    since = first(author, execution)["since"]
    assert since == waiter.created_at.isoformat().replace("+00:00", "Z")


def test_the_error_of_the_attempt_before_is_named(author: APIClient, execution: str) -> None:
    run = put(execution, state="FAILED", finished_at=later(0), error="connection refused")
    run.pk = None
    Run.objects.create(
        execution_id=execution,
        segment=run.segment,
        step_path=run.step_path,
        task_id=run.task_id,
        module_id=run.module_id,
        module=run.module,
        queue=run.queue,
        attempt=2,
        retry_after=later(30),
    )
    reason = first(author, execution)
    assert reason["code"] == "retry_due"
    assert reason["details"]["error"] == "connection refused"


def test_a_dead_step_names_its_dead_letter_until_it_is_closed(
    author: APIClient, execution: str
) -> None:
    run = Run.objects.get(execution_id=execution)
    address = f"/v1/Run/{run.pk}/quarantine"
    letter = author.post(address, {"reason": "poison"}, format="json").json()

    found = explained(author, execution)

    assert (found["state"], found["reason"]["code"]) == ("FAILED", "finished")
    dead, blocked = found["steps"]
    assert dead["reason"]["code"] == "dead_letter"
    assert dead["reason"]["details"]["deadLetterId"] == letter["id"]
    assert blocked["reason"]["code"] == "blocked_by_dead_step"
    assert blocked["reason"]["details"]["dead"] == ["one"]
    given_up = f"/v1/DeadLetterQueue/{letter['id']}/discard"
    author.post(given_up, {"notes": "known"}, format="json")
    assert first(author, execution)["code"] == "given_up"


def test_a_requeued_step_is_explained_by_its_new_attempt(author: APIClient, execution: str) -> None:
    run = Run.objects.get(execution_id=execution)
    author.post(f"/v1/Run/{run.pk}/quarantine", {"reason": "poison"}, format="json")
    [letter] = author.get("/v1/DeadLetterQueue").json()
    author.post(f"/v1/DeadLetterQueue/{letter['id']}/requeue")

    steps = explained(author, execution)["steps"]

    assert [(step["path"], step["attempt"]) for step in steps] == [("one.main", 2), ("two", None)]


def test_a_paused_execution_says_who_paused_it(author: APIClient, execution: str) -> None:
    address = f"/v1/WorkflowExecution/{execution}/pause"
    author.post(address, {"reason": "maintenance"}, format="json")

    found = explained(author, execution)

    assert found["reason"]["code"] == "paused"
    assert found["reason"]["details"] == {"by": "workflow-default", "reason": "maintenance"}
    assert found["reason"]["since"]
    assert found["steps"][0]["reason"]["code"] == "execution_paused"


@pytest.mark.parametrize(
    ("place", "code", "step"),
    [("FREE", "asleep", "execution_waits"), ("WANTED", "woken_waits_for_place", "execution_waits")],
)
def test_an_execution_without_a_place_says_so(
    author: APIClient, execution: str, place: str, code: str, step: str
) -> None:
    WorkflowExecution.objects.filter(pk=execution).update(place=place)
    assert explained(author, execution)["reason"]["code"] == code
    assert first(author, execution)["code"] == step


def test_a_full_workspace_makes_executions_wait_in_line(
    author: APIClient, make: Callable[..., str], begin: Callable[..., str], workspace: Workspace
) -> None:
    workspace.tier = Tier.objects.create(name="one", max_concurrent=1)
    workspace.save()
    workflow = make(TWO)
    running, *waiting = [begin(workflow) for _ in range(3)]

    reasons = [explained(author, pk)["reason"] for pk in waiting]

    assert [reason["code"] for reason in reasons] == ["waiting_for_place"] * 2
    assert [reason["details"]["ahead"] for reason in reasons] == [0, 1]
    assert reasons[0]["details"]["active"] == 1
    assert explained(author, waiting[0])["steps"] == []
    WorkflowExecution.objects.filter(pk=running).update(state="SUCCESS", finished_at=later(0))
    assert explained(author, waiting[0])["reason"]["code"] == "about_to_start"


def test_a_taken_key_names_who_holds_it(
    author: APIClient, make: Callable[..., str], begin: Callable[..., str]
) -> None:
    key = {"concurrency": {"key": "{{ input.customer }}", "limit": 1}}
    workflow = make({**TWO, "settings": key})
    holder, *waiting = [begin(workflow, {"customer": "ann"}) for _ in range(3)]

    reasons = [explained(author, pk)["reason"] for pk in waiting]

    assert [reason["code"] for reason in reasons] == ["waiting_for_key"] * 2
    assert [reason["details"]["ahead"] for reason in reasons] == [0, 1]
    assert reasons[0]["details"]["executionIds"] == [holder]
    assert reasons[0]["details"]["key"] == "ann"


def test_an_execution_that_is_over_says_how_it_ended(author: APIClient, execution: str) -> None:
    author.post(f"/v1/WorkflowExecution/{execution}/cancel")
    found = explained(author, execution)
    assert found["reason"]["code"] == "finished"
    assert "was cancelled" in found["reason"]["message"]
    assert found["steps"] == []
    WorkflowExecution.objects.filter(pk=execution).update(state="FAILED")
    Run.objects.filter(execution_id=execution).update(state="PENDING", finished_at=None)
    assert first(author, execution)["code"] == "execution_over"


def test_only_who_may_see_the_execution_is_told(
    author: APIClient,
    execution: str,
    stranger: APIClient,
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    elsewhere: Workspace,
) -> None:
    address = f"/v1/WorkflowExecution/{execution}/explain"
    assert stranger.get(address).status_code == 401
    assert client_of(member("SYSTEM")).get(address).status_code == 403
    assert client_of(member("ADMIN", elsewhere)).get(address).status_code == 404
    assert author.get(address).status_code == 200
