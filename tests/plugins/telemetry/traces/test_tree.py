"""Tests of the spans of one execution across processes, from the request to its last step."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from executions.models import WorkflowExecution
from runners.models import Run
from tests.plugins.telemetry.traces.conftest import run
from tests.support.collector import Collector, Span
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import effect, publish, start, task, wait_for_end

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{CALLER}-00f067aa0ba902b7-01"
RETRY = {"maxAttempts": 2, "baseSeconds": 0.1, "jitter": 0}
SECRETIVE = "not to be told"


def document(child: str, url: str) -> dict[str, Any]:
    """Return a workflow with a retry, a map, a child, an outgoing request, and a step that fails
    permanently.
    """
    body = {"tasks": [effect("item", value=SECRETIVE)]}
    return {
        "name": "told of",
        "tasks": [
            effect("flaky", failTimes=1, retry=RETRY, value=SECRETIVE),
            task("each", "flow.map", "flaky", **{"with": {"items": [1, 2, 3]}, "body": body}),
            task("call", "flow.subworkflow", "each", **{"with": {"workflow": child}}),
            task("pure", "data.set", "call", **{"with": {"values": {"a": SECRETIVE}}}),
            task("ask", "http.request", "pure", **{"with": {"url": url}}),
            task(
                "tell",
                "http.request",
                "ask",
                **{"with": {"url": url, "headers": {"traceparent": "00-own"}}},
            ),
            effect("fails", "tell", failTimes=9, errorType="PERMANENT"),
        ],
    }


@pytest.fixture(scope="module")
def told(
    fleet: Fleet, web: WebServer, ann: dict[str, str], collector: Collector
) -> WorkflowExecution:
    """Run that workflow to its end, and wait for all its spans."""
    child = publish({"name": "inner", "tasks": [effect("inside")]})
    workflow = publish(document(child.slug, f"{collector.url}/asked"))
    pk = run(web, ann, workflow, traceparent=TRACEPARENT)
    execution = WorkflowExecution.objects.get(pk=pk)
    runs = Run.objects.filter(execution=execution).exclude(state="SKIPPED")
    wanted = {str(run.pk) for run in runs}
    wait_for(lambda: whole(collector, wanted), "the spans of every run, and their parents")
    return execution


def whole(collector: Collector, runs: set[str]) -> bool:
    """Return whether the trace has arrived: processes export independently, a child before its
    parent.
    """
    spans = collector.of(CALLER)
    executed = {s.facts["run.id"] for s in spans if s.name == "run.execute"}
    parents = {s.parent for s in spans} - {TRACEPARENT.split("-")[2]}
    ended = bool(collector.of(CALLER, "execution.run"))
    return ended and executed >= runs and parents <= {s.id for s in spans}


def wait_for(condition: Callable[[], bool], what: str) -> None:
    wait_until(condition, 20, what)


def one(spans: list[Span], **facts: Any) -> Span:
    found = [s for s in spans if facts.items() <= s.facts.items()]
    assert len(found) == 1, found
    return found[0]


def test_the_request_is_the_callers_child_and_the_execution_the_requests(
    told: WorkflowExecution, collector: Collector
) -> None:
    begun = one(collector.of(CALLER, "execution.start"))
    route = "/v1/WorkflowExecution/<uuid:workflowId>/execute"
    request = one(collector.of(CALLER, f"POST {route}"))

    assert told.trace_id == CALLER
    assert (request.parent, request.facts["http.response.status_code"]) == ("00f067aa0ba902b7", 202)
    assert begun.parent == request.id
    assert begun.facts["execution.id"] == str(told.pk)
    assert begun.process["valkyr.process"].startswith("web")
    assert begun.process["deployment.environment.name"] == "tests"
    assert {headers["x-tenant"] for headers in collector.headers} == {"ours"}


def test_every_span_of_the_execution_hangs_below_its_start(
    told: WorkflowExecution, collector: Collector
) -> None:
    spans = [s for s in collector.of(CALLER) if not s.name.startswith("POST")]
    by_id = {s.id: s for s in spans}
    begun = one(collector.of(CALLER, "execution.start"))

    def root(span: Span) -> Span:
        return root(by_id[span.parent]) if span.parent in by_id else span

    assert {root(s).id for s in spans} == {begun.id}
    assert len(by_id) == len(spans), "no two have one id"
    names = {s.name for s in spans}
    assert names >= {"execution.admit", "segment.dispatch", "segment.run", "run.execute"}
    for span in collector.of(CALLER, "run.execute"):
        assert by_id[span.parent].name == "segment.run"
    senders = {by_id[s.parent].name for s in collector.of(CALLER, "segment.run")}
    assert "segment.dispatch" in senders
    processes = {s.process["process.pid"] for s in spans}
    assert len(processes) >= 3, "web, workers"


def test_each_attempt_is_a_span_that_says_whose_it_is(
    told: WorkflowExecution, collector: Collector
) -> None:
    executed = collector.of(CALLER, "run.execute")

    for run_ in Run.objects.filter(execution=told).exclude(state="SKIPPED"):
        for span in (s for s in executed if s.facts["run.id"] == str(run_.pk)):
            assert span.facts["execution.id"] == str(told.pk)
            assert span.facts["task.id"] == str(run_.task_id)
            assert span.facts["step.path"] == run_.step_path
            assert span.facts["attempt"] == run_.attempt
            assert span.facts["module"] == run_.module
            assert span.facts["workflow.name"] == "told of"
            assert span.failed == (run_.state in {"FAILED", "DLQ"})


def test_a_failure_is_an_exception_and_a_retry_links_to_it(
    told: WorkflowExecution, collector: Collector
) -> None:
    executed = collector.of(CALLER, "run.execute")
    first = one(executed, **{"step.path": "flaky.main", "attempt": 1})
    second = one(executed, **{"step.path": "flaky.main", "attempt": 2})
    dead = one(executed, **{"step.path": "fails.main"})

    assert first.failed
    assert not second.failed
    assert second.links == ((CALLER, first.id, {"link.kind": "retry_of"}),)
    [(name, exception)] = dead.events
    assert name == "exception"
    assert exception["exception.type"] == "StepError"
    assert exception["exception.message"] == "try 1 fails"
    assert "StepError" in exception["exception.stacktrace"]
    assert one(collector.of(CALLER, "execution.run")).failed


def calls_in(collector: Collector) -> list[Span]:
    executed = collector.of(CALLER, "run.execute")
    return [s for s in executed if s.facts["step.path"] == "call.main"]


def test_a_child_has_a_trace_of_its_own_and_links_to_the_run_that_called_it(
    told: WorkflowExecution, collector: Collector
) -> None:
    child = WorkflowExecution.objects.get(parent=told)
    wait_for(lambda: bool(collector.of(child.trace_id, "execution.start")), "the child's start")
    wait_for(lambda: len(calls_in(collector)) == 2, "the call's two spans")
    calls = calls_in(collector)
    begun = one(collector.of(child.trace_id, "execution.start"))

    assert child.trace_id != CALLER
    assert begun.parent == ""
    asleep = next(s for s in calls if s.facts.get("run.waits_for") == "child")
    woken = next(s for s in calls if s.id != asleep.id)
    assert begun.links == ((CALLER, asleep.id, {"link.kind": "child_of"}),)
    assert woken.links == ((CALLER, asleep.id, {"link.kind": "resumed_from"}),)
    assert all(s.seconds < 5 for s in calls), "a wait is no open span"


def test_what_a_step_asks_elsewhere_carries_its_span_unless_the_step_says_otherwise(
    told: WorkflowExecution, collector: Collector
) -> None:
    asked = one(collector.of(CALLER, "run.execute"), **{"step.path": "ask.main"})
    sent = [headers["traceparent"] for path, headers in collector.requests if path == "/asked"]

    assert sent == [f"00-{CALLER}-{asked.id}-01", "00-own"]


def test_no_payload_is_in_any_span(told: WorkflowExecution, collector: Collector) -> None:
    assert b"told of" in collector.raw
    assert SECRETIVE.encode() not in collector.raw


def test_an_execution_without_a_request_has_a_trace_of_its_own(
    fleet: Fleet, collector: Collector
) -> None:
    pk = start(publish({"tasks": [effect("alone")]}))
    wait_for_end([pk])
    trace = WorkflowExecution.objects.get(pk=pk).trace_id

    names = {"segment.run", "run.execute"}
    wait_for(lambda: names <= {s.name for s in collector.of(trace)}, "its spans")


def test_who_does_not_record_a_trace_is_believed(
    fleet: Fleet, web: WebServer, ann: dict[str, str], collector: Collector
) -> None:
    unwanted = "5bf92f3577b34da6a3ce929d0e0e4736"
    workflow = publish({"tasks": [effect("alone")]})

    pk = run(web, ann, workflow, traceparent=f"00-{unwanted}-00f067aa0ba902b7-00")

    assert WorkflowExecution.objects.get(pk=pk).trace_id == unwanted
    after = run(web, ann, workflow)
    trace = WorkflowExecution.objects.get(pk=after).trace_id
    wait_for(lambda: bool(collector.of(trace, "execution.run")), "a later execution's end")
    assert collector.of(unwanted) == []


def test_a_request_may_name_itself_and_is_told_its_trace(web: WebServer) -> None:
    named = httpx.get(f"{web.address}/v1/Workflow", headers={"X-Request-Id": "mine-1"}, timeout=120)
    unnamed = httpx.get(f"{web.address}/v1/Workflow", timeout=120)
    hostile = httpx.get(
        f"{web.address}/v1/Workflow", headers={"X-Request-Id": "x" * 10_000}, timeout=30
    )

    assert named.headers["x-request-id"] == "mine-1"
    assert len(unnamed.headers["x-request-id"]) == len(unnamed.headers["x-trace-id"]) == 32
    assert len(hostile.headers["x-request-id"]) == 32
