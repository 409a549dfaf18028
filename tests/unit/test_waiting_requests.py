"""The requests that wait for a slot when a web process has too many, by their path."""

import pytest

from valkyr_project.http.load_shedding import waits

ID = "00000000-0000-4000-8000-000000000007"


@pytest.mark.parametrize(
    "path",
    [
        "/actuator/health",
        "/actuator/health/live",
        "/admin/",
        f"/v1/WorkflowExecution/{ID}/cancel",
        f"/v1/WorkflowExecution/{ID}/pause",
        f"/v1/WorkflowExecution/{ID}/resume",
        f"/v1/Run/{ID}/heartbeat",
        f"/v1/Run/{ID}/complete",
        f"/v1/Run/{ID}/fail",
        "/metrics",
        "/nothing/is/here",
    ],
)
@pytest.mark.parametrize("prefix", ["", "/flows"])
def test_these_never_wait(path: str, prefix: str) -> None:
    assert not waits({"path": prefix + path, "root_path": prefix})


@pytest.mark.parametrize(
    "path",
    ["/v1/Workflow", "/v1/Me", f"/v1/WorkflowExecution/{ID}/execute", "/v1/Run/lease"],
)
@pytest.mark.parametrize("prefix", ["", "/flows"])
def test_these_wait(path: str, prefix: str) -> None:
    assert waits({"path": prefix + path, "root_path": prefix})
