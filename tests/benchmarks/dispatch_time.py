"""W3: one single-step execution at a time over HTTP, on an otherwise idle system."""

import os
import time
from dataclasses import dataclass
from typing import Any

import httpx

from tests.benchmarks import shapes
from tests.benchmarks.cast import Cast
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_worker, plain_worker, web
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.sides import Engine, wait
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port

WARM = 10


@dataclass(frozen=True, slots=True)
class Latencies:
    """The quantiles of each duration, in milliseconds."""

    answered: Quantiles  # request sent -> 202
    first_line: Quantiles  # request sent -> first line of the step
    recorded: Quantiles  # request sent -> the execution's finished_at
    lease: Quantiles  # message received by the child -> first line: load, claim, render
    dispatch: Quantiles  # the run's message published -> the run claimed, by the database's clock
    plain: Quantiles | None  # apply_async -> first line, plain Celery, without HTTP


def measure(stage: Cast, options: Options) -> Latencies | None:
    """Send requests one after another; the scale determines their number."""
    if "W3" not in options.only:
        return None
    number = max(40, round(200 * options.scale))
    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    port = free_port()
    server = stage.add(web(stage.folder, port))
    workflow = Engine(stage, worker).publish(shapes.single("bench.clock", {"value": 1}))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        sign_in(client, stage)
        found = [_once(client, workflow.pk, stage) for _ in range(WARM + number)][WARM:]
    stage.end(server)
    stage.end(worker)
    parts = [quantiles([row[i] for row in found]) for i in range(5)]
    plain = None if options.engine_only else _plain(stage, options, number)
    result = Latencies(*parts, plain)
    say(
        f"W3: first line p50 {result.first_line.p50:.1f} p95 {result.first_line.p95:.1f} ms, "
        f"recorded p95 {result.recorded.p95:.1f} ms, lease p95 {result.lease.p95:.1f} ms, "
        f"dispatch p95 {result.dispatch.p95:.1f} ms, 202 p95 {result.answered.p95:.1f} ms"
    )
    return result


def sign_in(client: httpx.Client, stage: Cast) -> None:
    """Give the client a token as soon as the web process answers."""
    account = {
        "username": os.environ["VALKYR_ADMIN_USERNAME"],
        "password": os.environ["VALKYR_ADMIN_PASSWORD"],
    }

    def answers() -> bool:
        try:
            answer = client.post("/v1/auth/token", json=account)
        except httpx.TransportError:
            return False
        answer.raise_for_status()
        client.headers["Authorization"] = f"Bearer {answer.json()['access']}"
        return True

    wait(answers, stage, 0.2)


def _once(client: httpx.Client, workflow_id: Any, stage: Cast) -> tuple[float, ...]:
    """Start one execution; return the milliseconds to its answer, its first line and its end, and
    those of the lease and of the dispatch.
    """
    from executions.models import WorkflowExecution
    from runners.models import Run

    sent = time.time()
    answer = client.post(f"/v1/WorkflowExecution/{workflow_id}/execute", json={"params": {}})
    answered = time.time()
    answer.raise_for_status()
    execution = answer.json()["id"]
    rows = WorkflowExecution.objects.filter(pk=execution)
    wait(lambda: rows.filter(finished_at__isnull=False).exists(), stage, 0.01)
    finished = rows.values_list("finished_at", flat=True).get()
    run = Run.objects.only("outputs", "published_at", "started_at").get(execution=execution)
    times = (answered, run.outputs["at"], finished.timestamp())
    dispatch = 1000 * (run.started_at - run.published_at).total_seconds()
    return (*(1000 * (at - sent) for at in times), run.outputs["claimMs"], dispatch)


def _plain(stage: Cast, options: Options, number: int) -> Quantiles:
    worker = stage.add(plain_worker(stage.folder, concurrency=options.concurrency))
    found = [_plain_once(stage) for _ in range(WARM + number)][WARM:]
    stage.end(worker)
    return quantiles(found)


def _plain_once(stage: Cast) -> float:
    from tests.benchmarks import plain

    sent = time.time()
    plain.clock.apply_async()
    arrived: Any = plain.store().blpop([plain.ARRIVED], timeout=30)
    stage.check()
    return 1000 * (float(arrived[1]) - sent)
