"""What lets waiting steps go on over HTTP: decisions, signals, callbacks."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, WorkflowExecution
from runners.models import Run, Waiter
from tests.support.segments import claimed, recorded, run_of
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db


def waiting(use: str, *, also: Any = (), **inputs: Any) -> Run:
    """The run of a step `ask` that waits."""
    execution = start(publish({"tasks": [task("ask", use, **{"with": inputs}), *also]}))
    recorded(claimed(execution, "ask.main"))
    run = run_of(execution, "ask.main")
    assert run.state == "WAITING", run.error
    return run


@pytest.fixture
def approval(workspace: Any) -> Callable[..., Run]:
    return lambda **inputs: waiting("flow.approval", title="Refund?", **inputs)


def decide(client: APIClient, run: Run, decision: Any = "approved", **more: Any) -> Any:
    return client.post(f"/v1/Run/{run.pk}/decide", {"decision": decision, **more}, format="json")


def test_a_decision_lets_the_step_go_on(author: APIClient, approval: Any) -> None:
    run = approval()
    answer = decide(author, run, "rejected", comment="too much")

    assert (answer.status_code, answer.json()["state"]) == (200, "PENDING")
    assert not Waiter.objects.filter(run=run).exists()
    recorded(claimed(run.execution_id, "ask.main"))
    run.refresh_from_db()
    assert (run.state, run.outcome) == ("SUCCESS", "rejected")
    assert run.outputs["by"] == "workflow-default"
    assert run.outputs["comment"] == "too much"
    ended = WorkflowExecution.objects.get(pk=run.execution_id)
    assert ended.state == "SUCCESS"


def test_a_decision_leaves_an_audit_row(author: APIClient, approval: Any) -> None:
    run = approval()
    decide(author, run, comment="fine")
    row = Activity.objects.get(action="run.decide", object_id=run.pk)

    assert (row.actor_name, row.reason) == ("workflow-default", "fine")
    assert row.details == {"decision": "approved", "step": "ask.main"}


def test_the_second_decision_is_told_of_the_first(
    author: APIClient, admin: APIClient, approval: Any
) -> None:
    run = approval()
    decide(author, run)
    answer = decide(admin, run, "rejected")

    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")
    assert "approved by workflow-default already" in answer.json()["detail"]


def test_nothing_is_decided_after_the_end(author: APIClient, approval: Any) -> None:
    run = approval()
    author.post(f"/v1/WorkflowExecution/{run.execution_id}/cancel", {}, format="json")
    assert decide(author, run).status_code == 409
    assert not Waiter.objects.filter(run=run).exists()


def test_a_step_that_waits_for_something_else_takes_no_decision(
    author: APIClient, workspace: Any
) -> None:
    answer = decide(author, waiting("flow.delay", seconds=60))

    assert answer.status_code == 409
    assert "it is a flow.delay" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("approvers", "role", "status"),
    [
        ([], "ADMIN", 200),
        ([], "WORKFLOW", 200),
        ([], "SYSTEM", 403),
        ([], "USER", 404),
        (["ADMIN"], "ADMIN", 200),
        (["ADMIN"], "WORKFLOW", 403),
        (["SYSTEM", "USER"], "USER", 200),
        (["SYSTEM", "USER"], "ADMIN", 403),
        (["user-default"], "USER", 200),
        (["user-default"], "ADMIN", 403),
        (["somebody"], "USER", 404),
    ],
)
def test_approvers_decide_and_nobody_else(
    approvers: list[str],
    role: str,
    status: int,
    approval: Any,
    member: Any,
    client_of: Any,
) -> None:
    run = approval(approvers=approvers)
    answer = decide(client_of(member(role)), run)

    assert answer.status_code == status, answer.json()
    run.refresh_from_db()
    assert (run.state == "WAITING") == (status != 200)


def test_a_user_called_like_a_role_has_not_its_right(
    approval: Any, member: Any, client_of: Any
) -> None:
    run = approval(approvers=["ADMIN"])
    assert decide(client_of(member("WORKFLOW", name="ADMIN")), run).status_code == 403


def test_an_approver_who_left_the_workspace_may_not_decide(
    approval: Any, member: Any, client_of: Any, elsewhere: Any
) -> None:
    run = approval(approvers=["maria"])
    assert decide(client_of(member("ADMIN", elsewhere, "maria")), run).status_code == 404


def test_decisions_are_strict(author: APIClient, approval: Any) -> None:
    run = approval()
    for decision in ("expired", "yes", None, 1):
        assert decide(author, run, decision).status_code == 422
    assert decide(author, run, reason="?").status_code == 422
    run.refresh_from_db()
    assert run.state == "WAITING"
