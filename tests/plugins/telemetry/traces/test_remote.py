"""A remote runner gets its parent in the trace with the lease, before its span exists."""

import httpx

from executions.models import WorkflowExecution
from tests.support.collector import Collector
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import effect, publish, start, wait_for_end


def test_what_a_remote_runner_does_hangs_below_its_runs_span(
    web: WebServer, ann: dict[str, str], collector: Collector
) -> None:
    pk = start(publish({"tasks": [effect("far") | {"queue": "remote"}]}))
    trace = WorkflowExecution.objects.get(pk=pk).trace_id
    with httpx.Client(base_url=web.address, headers=ann, timeout=120) as runner:
        ask = {"runnerId": "box", "queues": ["remote"], "waitSeconds": 20}
        [leased] = runner.post("/v1/Run/lease", json=ask).json()
        token = {"leaseToken": leased["leaseToken"]}
        done = runner.post(f"/v1/Run/{leased['id']}/complete", json=token | {"outputs": {}})
    assert done.status_code == 200, done.text
    wait_for_end([pk])
    wait_until(lambda: bool(collector.of(trace, "run.execute")), 20, "the run's span")

    [span] = collector.of(trace, "run.execute")
    assert leased["traceparent"] == f"00-{trace}-{span.id}-01"
    assert span.facts["run.remote"]
    assert span.facts["run.id"] == leased["id"]
