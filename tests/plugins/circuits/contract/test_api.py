"""Tests of circuit breakers over HTTP: open circuits, held steps, and closing one manually."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import Activity, Workspace
from runners.models import Run, Waiter
from valkyr_plugins.circuits import gate
from valkyr_plugins.circuits.models import CircuitBreaker

pytestmark = pytest.mark.django_db
TARGET = "http.request:api.example.com"


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    """Clear this process's cached circuits, which belong to another test's rows."""
    gate.memory().forget()
    yield
    gate.memory().forget()


@pytest.fixture
def opened(workspace: Workspace) -> CircuitBreaker:
    now = database_now()
    return CircuitBreaker.objects.create(
        workspace=workspace,
        target=TARGET,
        state="OPEN",
        failures=5,
        last_error="no answer",
        last_failure_at=now,
        opened_at=now,
        next_retry_at=now + timedelta(seconds=60),
    )


@pytest.fixture
def held(author: APIClient, greeting: dict[str, Any], workspace: Workspace) -> Run:
    """Create a step that waits for the target."""
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    pk = author.post(address, {"params": {"name": "x"}}, format="json").json()["id"]
    Run.objects.filter(execution_id=pk).update(
        state="WAITING",
        waits_for="circuit",
        progress={"target": TARGET},
        due_at=database_now() + timedelta(hours=1),
        started_at=database_now(),
    )
    run = Run.objects.get(execution_id=pk)
    Waiter.objects.create(
        run=run, execution_id=run.execution_id, workspace=workspace, kind="circuit", key=TARGET
    )
    return run


def test_a_circuit_tells_its_target_its_state_and_how_many_wait(
    author: APIClient, opened: CircuitBreaker, held: Run
) -> None:
    answer = author.get(f"/v1/CircuitBreaker/{opened.pk}").json()

    assert (answer["target"], answer["state"], answer["held"]) == (TARGET, "OPEN", 1)
    assert answer["lastError"] == "no answer"
    assert answer["nextRetryAt"] > answer["openedAt"]


def test_the_list_is_of_ones_workspaces_and_narrowed_by_state_and_target(
    author: APIClient, opened: CircuitBreaker, elsewhere: Workspace, workspace: Workspace
) -> None:
    CircuitBreaker.objects.create(workspace=elsewhere, target=TARGET)
    clean = CircuitBreaker.objects.create(workspace=workspace, target="vector:a")

    def found(**query: Any) -> list[str]:
        return [row["id"] for row in author.get("/v1/CircuitBreaker", query).json()]

    assert found() == [str(clean.pk), str(opened.pk)]
    assert found(state="OPEN") == [str(opened.pk)]
    assert found(target="vector:a") == [str(clean.pk)]
    assert found(workspaceId=str(elsewhere.pk)) == []
    assert found(limit=1) == [str(clean.pk)]
    assert author.get("/v1/CircuitBreaker", {"state": "BROKEN"}).status_code == 422


def test_a_reset_closes_it_wakes_what_waits_and_is_told(
    author: APIClient, opened: CircuitBreaker, held: Run
) -> None:
    answer = author.post(
        f"/v1/CircuitBreaker/{opened.pk}/reset", {"reason": "mended"}, format="json"
    )

    assert answer.status_code == 200, answer.content
    shown = answer.json()
    assert (shown["state"], shown["failures"], shown["held"]) == ("CLOSED", 0, 0)
    held.refresh_from_db()
    assert (held.state, held.wake and held.wake["by"]) == ("PENDING", "circuit")
    row = Activity.objects.get(action="circuit.reset")
    assert (row.reason, row.object_id) == ("mended", str(opened.pk))


def test_a_reset_needs_a_reason(author: APIClient, opened: CircuitBreaker) -> None:
    answer = author.post(f"/v1/CircuitBreaker/{opened.pk}/reset", {}, format="json")

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["path"] == "reason"


def explained(author: APIClient, run: Run) -> dict[str, Any]:
    answer = author.get(f"/v1/WorkflowExecution/{run.execution_id}/explain").json()
    (reason,) = [step["reason"] for step in answer["steps"] if step["runId"] == str(run.pk)]
    found: dict[str, Any] = reason
    return found


def test_a_held_step_is_explained_by_its_target(
    author: APIClient, opened: CircuitBreaker, held: Run
) -> None:
    reason = explained(author, held)

    assert reason["code"] == "waiting_for_circuit"
    assert f"The circuit of its target {TARGET} has been open since" in reason["message"]
    assert "one step probes it at" in reason["message"]
    assert "no answer" in reason["message"]
    assert "can reset the circuit" in reason["message"]
    assert "It fails at" in reason["message"]
    assert reason["until"] == reason["details"]["nextRetryAt"]
    assert reason["details"]["circuitBreakerId"] == str(opened.pk)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"next_retry_at": timedelta(seconds=-1)}, "one step probes it within seconds"),
        ({"state": "HALF_OPEN"}, "one step probes it now, until"),
        ({"state": "CLOSED", "failures": 0}, ": a few"),
        (
            {"state": "CLOSED", "window_until": timedelta(seconds=60)},
            ", and 5 calls failed recently",
        ),
        (
            {"state": "CLOSED", "failures": 0, "proven_at": timedelta(0)},
            "answers again; it continues within seconds",
        ),
    ],
)
def test_the_explanation_follows_the_circuit(
    author: APIClient, opened: CircuitBreaker, held: Run, change: dict[str, Any], says: str
) -> None:
    now = database_now()
    if change.get("state") == "HALF_OPEN":
        change = {
            **change,
            "probe_run_id": held.pk,
            "probe_token": 1,
            "probe_until": timedelta(seconds=30),
        }
    given = {k: now + v if isinstance(v, timedelta) else v for k, v in change.items()}
    CircuitBreaker.objects.filter(pk=opened.pk).update(**given)

    assert says in explained(author, held)["message"]


def test_a_target_nobody_knows_of_is_explained_too(author: APIClient, held: Run) -> None:
    assert explained(author, held)["details"]["circuitBreakerId"] is None
