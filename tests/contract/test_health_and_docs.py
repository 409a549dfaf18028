"""Health for load balancers; the OpenAPI document and its page."""

import re
import socket
from typing import Any

import pytest
from openapi_spec_validator import validate
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db
OPERATIONS = {
    "obtainToken", "refreshToken", "listWorkflows", "createWorkflow", "getWorkflow",
    "updateWorkflow", "patchWorkflow", "deleteWorkflow", "validateWorkflow", "publishWorkflow",
    "listWorkflowVersions", "getWorkflowVersion", "exportWorkflow", "importWorkflow",
    "executeWorkflow", "executeWorkflowBatch", "listWorkflowExecutions", "getWorkflowExecution",
    "cancelWorkflowExecution", "pauseWorkflowExecution", "resumeWorkflowExecution",
    "getWorkflowExecutionTimeline", "listRuns", "getRun", "quarantineRun", "listDeadLetterQueue",
    "getDeadLetterEntry", "requeueDeadLetterEntry", "discardDeadLetterEntry", "listModuleTypes",
    "getWorkflowSchema", "startExecution", "getQueueItem",
}  # fmt: skip


@pytest.fixture
def closed_port() -> int:
    """A port that refuses connections."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_process_that_serves_says_so(stranger: APIClient) -> None:
    for address in ("/actuator/health", "/actuator/health/ready"):
        answer = stranger.get(address)
        assert answer.status_code == 200
        assert answer.json() == {
            "status": "UP",
            "components": {"database": {"status": "UP"}, "broker": {"status": "UP"}},
        }


def test_a_broker_that_is_away_is_named(
    stranger: APIClient, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    from celery import current_app

    url = f"redis://127.0.0.1:{closed_port}/0"
    monkeypatch.setattr(current_app.conf, "broker_write_url", url)

    answer = stranger.get("/actuator/health/ready")

    assert answer.status_code == 503
    assert answer.json()["status"] == "DOWN"
    assert answer.json()["components"]["database"]["status"] == "UP"
    assert answer.json()["components"]["broker"]["status"] == "DOWN"
    assert str(closed_port) not in answer.content.decode()


def test_a_database_that_is_away_is_named_and_the_process_still_lives(
    stranger: APIClient, settings: Any, monkeypatch: pytest.MonkeyPatch, closed_port: int
) -> None:
    from django.db import connection

    monkeypatch.setitem(connection.settings_dict, "PORT", str(closed_port))
    monkeypatch.setitem(connection.settings_dict, "HOST", "127.0.0.1")

    ready, live = stranger.get("/actuator/health/ready"), stranger.get("/actuator/health/live")

    assert ready.status_code == 503
    assert ready.json()["components"]["database"]["status"] == "DOWN"
    assert (live.status_code, live.json()) == (200, {"status": "UP"})


def test_the_document_is_valid_and_names_every_operation(author: APIClient) -> None:
    document = author.get("/v1/schema", headers={"Accept": "application/json"}).json()

    validate(document)
    assert document["openapi"].startswith("3.1")
    named = {
        operation["operationId"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if "operationId" in operation
    }
    assert named >= OPERATIONS
    states = document["components"]["schemas"]["ExecutionState"]["enum"]
    assert states == ["PENDING", "RUNNING", "PAUSED", "SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"]


def test_module_types_come_with_their_schemas(author: APIClient) -> None:
    modules = {module["type"]: module for module in author.get("/v1/ModuleType").json()}

    assert modules["flow.if"]["outcomes"] == ["true", "false"]
    request = modules["http.request"]
    assert request["inputsSchema"]["type"] == "object"
    assert {"circuitTarget", "example", "badInputs"} <= request.keys()


def test_the_definition_has_a_schema(author: APIClient) -> None:
    assert "2020-12" in author.get("/v1/schema/workflow").json()["$schema"]


def test_the_page_loads_nothing_inline_and_nothing_from_elsewhere(
    author: APIClient, member: Any
) -> None:
    author.force_authenticate(None)
    author.force_login(member("USER"))

    page = author.get("/docs", headers={"Accept": "text/html"})

    assert page.status_code == 200
    text = page.content.decode()
    assert not re.search(r"<script(?![^>]*\bsrc=)", text)
    assert not re.search(r"<style|\sstyle=|\son\w+=", text)
    assert not re.search(r"(src|href)=\"(https?:)?//", text)
    assert "script-src 'self'" in page["Content-Security-Policy"]


def test_a_stranger_is_shown_the_way_to_sign_in(stranger: APIClient) -> None:
    page = stranger.get("/docs", headers={"Accept": "text/html"})

    assert page.status_code == 401
    assert "/admin/login/?next=/docs" in page.content.decode()
    assert stranger.get("/docs", headers={"Accept": "application/json"}).status_code == 401
