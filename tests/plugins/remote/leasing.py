"""Helpers for remote runners in tests: their leases, requests and reports."""

from typing import Any

from rest_framework.test import APIClient

from tests.contract.people import published
from tests.support.preparing import prepare_remote_runs

ASK = {"runnerId": "box-1", "queues": ["gpu"]}


def report(verb: str, token: str) -> dict[str, Any]:
    """Return the body of a report."""
    ends: dict[str, dict[str, Any]] = {
        "heartbeat": {},
        "complete": {"outputs": {"frames": 7}},
        "fail": {"error": "the disk is full", "errorType": "PERMANENT"},
    }
    return {"leaseToken": token, **ends[verb]}


def render(**more: Any) -> dict[str, Any]:
    """Return a step that a remote runner executes."""
    inputs = {"handler": "render", "scene": "{{ input.scene }}", **more.pop("inputs", {})}
    return {"id": "render", "use": "remote.step", "queue": "gpu", "with": inputs, **more}


def film(author: APIClient, *tasks: dict[str, Any], **more: Any) -> str:
    """Publish a workflow of these tasks; return its id."""
    document = {"schema": "valkyr/1", "name": "film", "tasks": list(tasks), **more}
    return str(published(author, document)["id"])


def one_film(author: APIClient) -> str:
    """Publish a workflow of one remote step; return its id."""
    return film(author, render(), name="one film", output="{{ tasks.render.output }}")


def begun(author: APIClient, workflow: str, params: Any = None) -> str:
    """Start an execution of a workflow; return its id."""
    address = f"/v1/WorkflowExecution/{workflow}/execute"
    started = author.post(address, {"params": params or {}}, format="json")
    assert started.status_code == 202, started.content
    return str(started.data["id"])


def lease(client: APIClient, **more: Any) -> list[dict[str, Any]]:
    """Let workers prepare runs; return those that a runner gets."""
    prepare_remote_runs()
    answer = client.post("/v1/Run/lease", ASK | more, format="json")
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()
    return found


def tell(client: APIClient, run: dict[str, Any], verb: str, **more: Any) -> Any:
    """Return the answer to a report about a leased run."""
    body = report(verb, run["leaseToken"]) | more
    return client.post(f"/v1/Run/{run['id']}/{verb}", body, format="json")
