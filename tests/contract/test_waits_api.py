"""The events that resume waiting steps, over HTTP: decisions, signals, callbacks."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.models import Activity, WorkflowExecution
from runners.models import EarlyCallback, Run, Waiter
from runners.recovery.sweeper import waits
from runners.waits import events
from tests.support.segments import claimed, recorded, run_of
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db


def waiting(use: str, *, also: Any = (), **inputs: Any) -> Run:
    """Return the run of a step `ask` that waits."""
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


# Events and signals


def listening(**inputs: Any) -> Run:
    return waiting("flow.wait_for_event", event="order.paid", **inputs)


def signal(client: APIClient, run: Run, name: str = "order.paid", payload: Any = None) -> Any:
    address = f"/v1/WorkflowExecution/{run.execution_id}/signal"
    return client.post(address, {"name": name, "payload": payload}, format="json")


def test_a_signal_wakes_the_step_that_waits_for_it(author: APIClient, workspace: Any) -> None:
    run, other = listening(), listening()
    answer = signal(author, run, payload={"total": 3})

    assert answer.status_code == 200, answer.json()
    assert answer.json() == {
        "woken": [{"runId": str(run.pk), "stepPath": "ask.main"}],
        "count": 1,
    }
    recorded(claimed(run.execution_id, "ask.main"))
    run.refresh_from_db()
    other.refresh_from_db()
    assert run.outputs == {"event": {"total": 3}, "eventId": None, "name": "order.paid"}
    assert (run.outcome, other.state) == ("success", "WAITING")
    assert Activity.objects.filter(action="execution.signal").count() == 1


def test_a_signal_names_no_steps_to_who_may_not_view(
    member: Callable[..., Any], client_of: Callable[[Any], APIClient], workspace: Any
) -> None:
    run = listening()
    answer = signal(client_of(member("SYSTEM")), run)

    assert answer.status_code == 200, answer.json()
    assert answer.json()["woken"] == [{"runId": str(run.pk), "stepPath": ""}]


def test_a_signal_nobody_waits_for_says_what_is_waited_for(
    author: APIClient, workspace: Any
) -> None:
    run = listening(filter="{{ event.total > 2 }}")
    other = signal(author, run, "order.sent")
    unfit = signal(author, run, payload={"total": 1})

    assert (other.status_code, other.json()["code"]) == (409, "nobody_waits")
    assert "waits for event 'order.paid'" in other.json()["detail"]
    assert "no filter lets this payload pass" in unfit.json()["detail"]
    assert other.json()["state"] == "RUNNING"
    assert not Activity.objects.filter(action="execution.signal").exists()


def test_a_signal_whose_filters_take_too_long_wakes_nobody_and_says_so(
    author: APIClient, workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "FILTER_SECONDS", -1.0)
    run = listening(filter="{{ event.total > 2 }}")

    refused = signal(author, run, payload={"total": 3})

    assert (refused.status_code, refused.json()["code"]) == (409, "filters_too_costly")
    assert "Publish an event" in refused.json()["detail"]
    assert Waiter.objects.filter(run=run).exists()


@pytest.mark.parametrize(
    ("role", "status"), [("ADMIN", 200), ("WORKFLOW", 200), ("SYSTEM", 200), ("USER", 404)]
)
def test_who_may_trigger_may_signal(
    role: str, status: int, workspace: Any, member: Any, client_of: Any
) -> None:
    assert signal(client_of(member(role)), listening()).status_code == status


def test_a_signal_elsewhere_is_not_found(author: APIClient, elsewhere: Any) -> None:
    document = {"tasks": [task("ask", "flow.wait_for_event", **{"with": {"event": "order.paid"}})]}
    execution = start(publish(document, elsewhere))
    assert signal(author, run_of(execution, "ask.main")).status_code == 404


def test_signals_are_strict(author: APIClient, workspace: Any) -> None:
    run = listening()
    address = f"/v1/WorkflowExecution/{run.execution_id}/signal"
    for body in ({}, {"name": 1}, {"name": ""}, {"name": "a", "more": 1}, []):
        assert author.post(address, body, format="json").status_code == 422, body


# Callbacks

ASK = task("ask", "flow.callback", "tell", **{"with": {"timeoutSeconds": 60}})
TELL = task("tell", "flow.noop", **{"with": {"value": "{{ tasks.ask.callbackUrl }}"}})


class Told:
    """An execution that has sent its callback's URL; its step `ask` is about to wait."""

    def __init__(self, *tasks: Any) -> None:
        self.execution_id = start(publish({"tasks": [TELL, *(tasks or [ASK])]}))
        state, work = claimed(self.execution_id, "tell.main")
        following = recorded((state, work))
        assert following is not None
        self._held = state, following
        self.url: str = run_of(self.execution_id, "tell.main").outputs

    @property
    def run(self) -> Run:
        return run_of(self.execution_id, "ask.main")

    def fall_asleep(self) -> None:
        recorded(self._held)

    def go_on(self) -> None:
        recorded(claimed(self.execution_id, self.run.segment))


@pytest.fixture
def told(workspace: Any) -> Told:
    return Told()


def call(client: APIClient, told: Told, body: Any = None) -> Any:
    address = told.url.removeprefix("http://localhost:8000")
    assert address.startswith("/v1/callbacks/"), told.url
    return client.post(address, {"paid": True} if body is None else body, format="json")


def test_a_callback_lets_its_step_go_on(stranger: APIClient, told: Told) -> None:
    told.fall_asleep()
    assert told.run.state == "WAITING"
    answer = call(stranger, told)

    assert (answer.status_code, answer.json()) == (202, {"accepted": True})
    told.go_on()
    run = told.run
    assert (run.state, run.outcome) == ("SUCCESS", "success")
    assert run.outputs["payload"] == {"paid": True}
    assert run.outputs["receivedAt"].endswith("+00:00")
    assert not Waiter.objects.filter(run=run).exists()


def test_a_callback_that_comes_early_is_kept(stranger: APIClient, told: Told) -> None:
    assert call(stranger, told).status_code == 202
    again = call(stranger, told, {"paid": False})
    assert (again.status_code, again.json()["code"]) == (409, "callback_used")
    told.fall_asleep()
    assert told.run.state == "PENDING"

    told.go_on()
    run = told.run
    assert (run.state, run.outputs["payload"]) == ("SUCCESS", {"paid": True})
    assert not EarlyCallback.objects.exists()
    assert call(stranger, told).status_code == 409


def test_a_callback_works_once(stranger: APIClient, told: Told) -> None:
    told.fall_asleep()
    call(stranger, told)
    before = call(stranger, told)
    told.go_on()
    assert told.run.state == "SUCCESS"
    after = call(stranger, told)
    assert (before.status_code, before.json()["code"]) == (409, "callback_used")
    assert (after.status_code, after.json()["code"]) == (409, "callback_used")


def test_a_callback_that_comes_too_late_is_gone(stranger: APIClient, told: Told) -> None:
    told.fall_asleep()
    Run.objects.filter(pk=told.run.pk).update(due_at="2026-01-01T00:00Z")
    waits.due_timers()
    late = call(stranger, told)
    told.go_on()
    run = told.run

    assert (late.status_code, late.json()["code"]) == (410, "callback_gone")
    assert (run.outcome, run.outputs) == ("timeout", {"payload": None, "receivedAt": None})
    assert call(stranger, told).status_code == 410


def test_a_callback_of_a_cancelled_execution_is_gone(
    author: APIClient, stranger: APIClient, told: Told
) -> None:
    author.post(f"/v1/WorkflowExecution/{told.execution_id}/cancel", {}, format="json")
    assert call(stranger, told).status_code == 410
    assert not EarlyCallback.objects.exists()


def test_a_callback_is_gone_once_an_error_edge_handled_its_failure(
    stranger: APIClient, workspace: Any
) -> None:
    bad = {"timeoutSeconds": "{{ tasks.tell.output }}"}  # not a number: it fails before it waits
    instead = task("instead", "flow.noop", "ask:error")
    told = Told(task("ask", "flow.callback", "tell", **{"with": bad}), instead)
    told.fall_asleep()
    answer = call(stranger, told)

    assert (told.run.state, told.run.outcome) == ("FAILED", "error")
    assert WorkflowExecution.objects.get(pk=told.execution_id).state == "RUNNING"
    assert (answer.status_code, answer.json()["code"]) == (410, "callback_gone")
    assert not EarlyCallback.objects.exists()


@pytest.mark.parametrize("token", ["x", "a.b", "WyJhIl0.c2lnbmF0dXJl", "a" * 3000, "%00", "ä.ö"])
def test_a_made_up_callback_is_unknown(stranger: APIClient, token: str, db: None) -> None:
    answer = stranger.post(f"/v1/callbacks/{token}", {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_callback")


def test_a_changed_address_is_unknown(stranger: APIClient, told: Told) -> None:
    told.fall_asleep()
    told.url = told.url[:-1] + ("a" if told.url[-1] != "a" else "b")
    assert call(stranger, told).status_code == 404


def test_bodies_of_callbacks_are_checked(stranger: APIClient, told: Told) -> None:
    told.fall_asleep()
    assert call(stranger, told, {"x": "y" * 2**20}).status_code == 413
    address = told.url.removeprefix("http://localhost:8000")
    bad = stranger.post(address, "{", content_type="application/json")
    assert bad.status_code == 400
    nul = stranger.post(address, '{"a": "\\u0000"}', content_type="application/json")
    assert nul.status_code == 422
    assert stranger.get(address).status_code == 405
    assert told.run.state == "WAITING"
