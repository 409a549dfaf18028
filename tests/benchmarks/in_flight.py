"""W4: 800 executions of one HTTP call of two seconds, on one io worker as `make up` starts it."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.benchmarks import shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_io_worker, plain_worker, slow_partner
from tests.benchmarks.sides import Canvas, Engine, Repetition, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port
from valkyr_project.processes.commands import IO_THREADS


@dataclass(frozen=True, slots=True)
class Calls:
    """The number of concurrent calls and connections that the server saw from one side."""

    peak: int
    connections: int
    repetition: Repetition


@dataclass(frozen=True, slots=True)
class InFlight:
    """Both sides; plain Celery may be left out."""

    engine: Calls
    celery: Calls | None


def measure(stage: Stage, options: Options) -> InFlight | None:
    """Measure one repetition per side: with two seconds per call, results vary little."""
    if "W4" not in options.only:
        return None
    executions = max(IO_THREADS, round(800 * options.scale))
    port = free_port()
    partner = stage.add(slow_partner(stage.folder, port))
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, timeout=10) as client:
        wait(lambda: _answers(client), stage, 0.1)
        engine = _engine(stage, client, url, executions)
        say(f"W4: engine {_said(engine)}")
        celery = None
        if not options.engine_only:
            celery = _celery(stage, client, url, executions)
            say(f"W4: Celery {_said(celery)}")
    stage.end(partner)
    return InFlight(engine, celery)


def _engine(stage: Stage, client: httpx.Client, url: str, executions: int) -> Calls:
    worker = stage.add(engine_io_worker(stage.folder, threads=IO_THREADS))
    engine = Engine(stage, worker)
    workflow = engine.publish(shapes.single("http.request", {"url": f"{url}/call"}))
    engine.run(workflow, 4, 1)
    client.get("/reset")
    repetition = engine.run(workflow, executions, 1)
    stage.end(worker)
    return Calls(*_seen(client), repetition)


def _celery(stage: Stage, client: httpx.Client, url: str, executions: int) -> Calls:
    from tests.benchmarks import plain

    worker = stage.add(plain_worker(stage.folder, concurrency=IO_THREADS, pool="threads"))

    def call(number: int) -> Any:
        return plain.call.s(f"{url}/call").set(queue="plain-threads")

    canvas = Canvas(stage, worker)
    canvas.run(call, 4, 1)
    client.get("/reset")
    repetition = canvas.run(call, executions, 1)
    stage.end(worker)
    return Calls(*_seen(client), repetition)


def _seen(client: httpx.Client) -> tuple[int, int]:
    """Return the maximum number of concurrent calls, and the number of their connections."""
    stats = client.get("/stats").json()
    return int(stats["peak"]), int(stats["connections"])


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/stats").is_success
    except httpx.TransportError:
        return False


def _said(calls: Calls) -> str:
    seconds = calls.repetition.seconds
    return (
        f"{calls.peak} calls in flight at most, {calls.repetition.steps} calls in {seconds:.1f} s "
        f"over {calls.connections} connections"
    )
