"""The OpenAPI document and its page."""

import re
from typing import Any

import pytest
from openapi_spec_validator import validate
from rest_framework.test import APIClient

from valkyr_project.up.failing_processes import VARIABLE

pytestmark = pytest.mark.django_db
OPERATIONS = {
    "obtainToken", "refreshToken", "listWorkflows", "createWorkflow", "getWorkflow",
    "updateWorkflow", "patchWorkflow", "deleteWorkflow", "validateWorkflow", "publishWorkflow",
    "listWorkflowVersions", "getWorkflowVersion", "exportWorkflow", "importWorkflow",
    "executeWorkflow", "executeWorkflowBatch", "listWorkflowExecutions", "getWorkflowExecution",
    "cancelWorkflowExecution", "pauseWorkflowExecution", "resumeWorkflowExecution",
    "undoWorkflowExecution",
    "getWorkflowExecutionTimeline", "listRuns", "getRun", "quarantineRun", "listDeadLetterQueue",
    "getDeadLetterEntry", "requeueDeadLetterEntry", "discardDeadLetterEntry", "listModuleTypes",
    "getWorkflowSchema", "startExecution", "getQueueItem", "testWorkflow", "validateDefinition",
    "getLastResults", "listWorkflowTemplates", "evaluateTemplate",
}  # fmt: skip


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


def test_the_definition_has_a_schema_that_anybody_may_read(stranger: APIClient) -> None:
    answer = stranger.get("/v1/schema/workflow")
    again = stranger.get("/v1/schema/workflow", headers={"If-None-Match": answer["ETag"]})

    assert "2020-12" in answer.json()["$schema"]
    assert again.status_code == 304


def test_the_pages_of_a_supervised_stack_say_that_a_process_is_failing(
    author: APIClient, member: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    author.force_authenticate(None)
    html = {"Accept": "text/html"}
    assert "ui/health.js" not in author.get("/docs", headers=html).content.decode()
    monkeypatch.setenv(VARIABLE, "/nowhere/failing.json")
    assert "ui/health.js" in author.get("/docs", headers=html).content.decode(), "not signed in"
    author.force_login(member("USER"))
    page = author.get("/docs", headers=html).content.decode()
    assert "ui/health.js" in page
    assert "ui/health.css" in page


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
