"""Executions of one step, one per request: one at a time, and from sixteen concurrent clients."""

import json
import time
from typing import Any

from tests.benchmarks import shapes
from tests.benchmarks.figures import Figures
from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import quantiles
from tests.benchmarks.shipped.client import StackClient, Stretch
from tests.benchmarks.shipped.homes import Homes
from tests.benchmarks.sides import wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from tests.benchmarks.triggering import CLIENTS, requests_of

ONE_AT_A_TIME = 200
SECONDS = 8.0
WARM = 10
ENDED = "SELECT finished_at IS NOT NULL FROM executions_workflowexecution WHERE id = %s"
FIRST_LINE = "SELECT (outputs ->> 'at')::float FROM runners_run WHERE execution_id = %s"


def measure(stage: Stage, options: Options, homes: Homes) -> Figures:
    """Measure a fresh stack: one execution at a time, then sixteen concurrent clients."""
    with homes.started("shipped-http") as stack, StackClient(stack, stage) as client:
        client.warm_up()
        figures = _quiet(client, stage, max(40, round(ONE_AT_A_TIME * options.scale)))
        made = _crowded(client, max(3.0, SECONDS * min(1.0, 2 * options.scale)))
    say(
        f"shipped-http: first line p50 {figures['shipped.first_line.p50']:.1f}, "
        f"p95 {figures['shipped.first_line.p95']:.1f} ms; {CLIENTS} clients: "
        f"{made.rate:,.0f} executions/s, {made.cpu_ms:.2f} ms of all CPU each"
    )
    used = {f"shipped.http.cpu_ms.{name}": ms for name, ms in made.by_process().items()}
    return figures | {"shipped.http.rate": made.rate, "shipped.http.cpu_ms": made.cpu_ms} | used


def _quiet(client: StackClient, stage: Stage, number: int) -> Figures:
    """Return the milliseconds from the request to the 202, and to the first line of the step."""
    workflow = client.publish(shapes.single("bench.clock", {"value": 1}), "one at a time")
    found = [_once(client, stage, workflow) for _ in range(WARM + number)][WARM:]
    return {
        f"shipped.{name}.{rank}": getattr(quantiles([row[place] for row in found]), rank)
        for place, name in enumerate(("answered", "first_line"))
        for rank in ("p50", "p95", "p99")
    }


def _once(client: StackClient, stage: Stage, workflow: str) -> tuple[float, float]:
    sent = time.time()
    answer = client.http.post(f"/v1/WorkflowExecution/{workflow}/execute", json={"params": {}})
    answered = time.time()
    answer.raise_for_status()
    execution = answer.json()["id"]
    wait(lambda: client.one(ENDED, execution)[0], stage, 0.01)
    [at] = client.one(FIRST_LINE, execution)
    return 1000 * (answered - sent), 1000 * (at - sent)


def _crowded(client: StackClient, seconds: float) -> Stretch:
    """Measure from the first request to the end of the last execution, including the requests."""
    document = shapes.single("bench.effect", {"value": "{{ input.n }}"})
    workflow = client.publish(document, "one by one")
    given: dict[str, Any] = {
        "port": int(client.url.rpartition(":")[2]),
        "path": f"/v1/WorkflowExecution/{workflow}/execute",
        "token": client.token(),
        "body": json.dumps({"params": {"n": 1}}),
    }
    requests_of(**given, seconds=1.0)  # warms up
    earlier = set(client.started(workflow))
    client.waited(list(earlier), 1, time.time(), {})
    before, began = client.stack.cpu(), time.time()
    found = requests_of(**given, seconds=seconds)
    if set(found["statuses"]) != {"202"}:
        raise RuntimeError(f"requests were answered {found['statuses']}, not 202 alone")
    ours = [pk for pk in client.started(workflow) if pk not in earlier]
    return client.waited(ours, 1, began, before)
