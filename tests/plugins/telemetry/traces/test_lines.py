"""Real processes write their logs as JSON with the IDs of the current work."""

import json
import re
from itertools import dropwhile
from typing import Any

import httpx
import pytest

from dlq.models import DeadLetterEntry
from executions.models import WorkflowExecution
from runners.models import Run
from tests.plugins.telemetry.traces.conftest import run
from tests.support.fleet import Fleet, Member
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import effect, publish

HEX = re.compile(r"[0-9a-f]+")


def lines(of: Member | WebServer) -> list[dict[str, Any]]:
    """Return every line so far; each must be a separate object.

    Celery warns on the root logger before anything can configure logging; only that warning may
    come first.
    """
    whole = of.log.read_text().rpartition("\n")[0].splitlines()
    return [json.loads(line) for line in dropwhile(lambda text: not text.startswith("{"), whole)]


@pytest.fixture(scope="module")
def failed(fleet: Fleet, web: WebServer, ann: dict[str, str]) -> Run:
    """Run a step that fails permanently after a retry, in an execution started by a named
    request.
    """
    retry = {"maxAttempts": 2, "baseSeconds": 0.1, "jitter": 0}
    workflow = publish({"name": "logged", "tasks": [effect("fails", failTimes=9, retry=retry)]})
    headers = {"x-request-id": "the-request"}
    execution = run(web, ann, workflow, **headers)
    return Run.objects.get(execution_id=execution, attempt=2)


def test_a_failure_is_one_line_with_every_id(failed: Run, fleet: Fleet) -> None:
    execution = WorkflowExecution.objects.select_related("workflow").get(pk=failed.execution_id)
    found = [
        line
        for line in lines(fleet["default"])
        if line.get("run_id") == str(failed.pk)
        and line["logger"] == "runners.observability.tracing"
    ]

    [line] = found
    assert line["level"] == "WARNING"
    assert "fails.main failed in attempt 2" in line["message"]
    assert (
        line
        | {
            "execution_id": str(execution.pk),
            "task_id": str(failed.task_id),
            "attempt": 2,
            "step": "fails.main",
            "workflow": "logged",
            "workspace": str(execution.workspace_id),
            "trace_id": execution.trace_id,
            "process": "worker-default",
            "task": "runners.run_segment",
        }
        == line
    )
    assert HEX.fullmatch(line["span_id"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])


def test_a_dead_letter_is_one_line_with_the_runs_ids(failed: Run, fleet: Fleet) -> None:
    entry = DeadLetterEntry.objects.get(run=failed)
    found = [line for line in lines(fleet["default"]) if str(entry.pk) in line["message"]]

    [line] = found
    assert line["level"] == "ERROR"
    assert line["run_id"] == str(failed.pk)
    assert line["execution_id"] == str(failed.execution_id)


def test_a_request_its_execution_and_the_servers_line_have_one_trace(
    failed: Run, web: WebServer
) -> None:
    trace = WorkflowExecution.objects.get(pk=failed.execution_id).trace_id

    def mine() -> dict[str, dict[str, Any]]:
        named = [line for line in lines(web) if line.get("request_id") == "the-request"]
        return {line["logger"]: line for line in named}

    wait_until(
        lambda: {"executions.observability.tracing", "uvicorn.access"} <= set(mine()),
        30,
        "its lines",
    )
    started, access = mine()["executions.observability.tracing"], mine()["uvicorn.access"]
    assert started["trace_id"] == access["trace_id"] == trace
    assert started["execution_id"] == str(failed.execution_id)
    assert "POST /v1/WorkflowExecution/" in access["message"]


def test_what_gives_access_is_in_no_access_line(web: WebServer) -> None:
    token = "t0ken" * 10
    httpx.get(f"{web.address}/v1/callbacks/{token}?code=c0de", timeout=120)

    wait_until(lambda: any("callbacks" in line["message"] for line in lines(web)), 30, "its line")

    text = web.log.read_text()
    assert "t0ken" not in text
    assert "c0de" not in text


def test_celerys_own_lines_are_ours_too(failed: Run, fleet: Fleet) -> None:
    for name in ("default", "control"):
        loggers = {line["logger"] for line in lines(fleet[name])}
        assert any(logger.startswith("celery.") for logger in loggers), loggers
    assert lines(fleet["beat"])
