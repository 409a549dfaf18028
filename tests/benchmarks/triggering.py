"""W5: how many executions the API accepts, one a request and a thousand a request.

Sixteen clients, the ASGI server with two processes, no worker: what is measured is the door. Beside
it, on the same database, a bare DRF view that inserts one row with the same checks (`bare.py`).
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import httpx

from tests.benchmarks import shapes
from tests.benchmarks.dispatch_time import sign_in
from tests.benchmarks.options import Options
from tests.benchmarks.programs import PROJECT, engine_worker, web
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port

CLIENTS = 16
SECONDS = 20.0
BATCH = 200
PROCESSES = 2


@dataclass(frozen=True, slots=True)
class Triggering:
    """Executions accepted a second, and milliseconds a request at half the highest rate."""

    single: float
    bare: float
    batch: float
    half_rate: float
    at_half: Quantiles
    refused: int

    @property
    def ratio(self) -> float:
        """Single triggers beside the bare view."""
        return self.single / self.bare if self.bare else 0.0


def measure(stage: Stage, options: Options) -> Triggering | None:
    """One after the other: bare, single, single at half the rate, batch."""
    if "W5" not in options.only:
        return None
    seconds = max(3.0, SECONDS * options.scale)
    workflow = _publish(stage, options)
    token, port = _serve(stage, "tests.benchmarks.bare_settings")
    body = json.dumps({"params": {"n": 1}})
    _warm(port, f"/bare/{workflow.pk}", token, body)
    bare = _load(port, f"/bare/{workflow.pk}", token, body, seconds)
    stage.end(stage.programs[-1])
    token, port = _serve(stage, "valkyr_project.settings")
    address = f"/v1/WorkflowExecution/{workflow.pk}/execute"
    _warm(port, address, token, body)
    single = _load(port, address, token, body, seconds)
    rate = _rate(single) / 2
    half = _load(port, address, token, body, seconds, rate)
    many = json.dumps({"payloads": [{"n": 1}] * BATCH})
    batch = _load(port, f"{address}-batch", token, many, seconds)
    stage.end(stage.programs[-1])
    found = Triggering(
        single=_rate(single),
        bare=_rate(bare),
        batch=BATCH * _rate(batch),
        half_rate=rate,
        at_half=quantiles(half["ms"]),
        refused=sum(
            count
            for run in (bare, single, half, batch)
            for status, count in run["statuses"].items()
            if status != "202"
        ),
    )
    say(
        f"W5: single {found.single:,.0f}/s ({found.ratio:.2f} of a bare view), batch "
        f"{found.batch:,.0f}/s, p95 {found.at_half.p95:.0f} ms at {found.half_rate:,.0f}/s"
    )
    return found


def _publish(stage: Stage, options: Options) -> Any:
    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    workflow = Engine(stage, worker).publish(
        shapes.single("bench.effect", {"value": "{{ input.n }}"})
        | {"input": {"type": "object", "properties": {"n": {"type": "integer"}}}}
    )
    stage.end(worker)
    return workflow


def _serve(stage: Stage, settings: str) -> tuple[str, int]:
    """A server of two processes with these settings; a token, and the port."""
    import os

    port = free_port()
    signing = stage.add(web(stage.folder, port))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        sign_in(client, stage)
        token = client.headers["Authorization"].removeprefix("Bearer ")
    stage.end(signing)
    os.environ["DJANGO_SETTINGS_MODULE"], kept = settings, os.environ["DJANGO_SETTINGS_MODULE"]
    try:
        port = free_port()
        stage.add(web(stage.folder, port, processes=PROCESSES))
    finally:
        os.environ["DJANGO_SETTINGS_MODULE"] = kept
    _wait_for(port, stage)
    return token, port


def _wait_for(port: int, stage: Stage) -> None:
    from tests.benchmarks.sides import wait

    def answers() -> bool:
        try:
            return httpx.post(f"http://127.0.0.1:{port}/v1/none", timeout=5).status_code < 500
        except httpx.TransportError:
            return False

    wait(answers, stage, 0.2)


def _warm(port: int, path: str, token: str, body: str) -> None:
    """Let both processes load what their first requests load."""
    _load(port, path, token, body, 2.0)


def _load(
    port: int, path: str, token: str, body: str, seconds: float, rate: float = 0.0
) -> dict[str, Any]:
    given = {
        "host": "127.0.0.1", "port": port, "path": path, "token": token, "body": body,
        "clients": CLIENTS, "seconds": seconds, "rate": rate,
    }  # fmt: skip
    done = subprocess.run(
        (sys.executable, "-m", "tests.benchmarks.load"),
        input=json.dumps(given), capture_output=True, text=True, cwd=PROJECT, check=True,
        timeout=seconds + 60,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _rate(found: dict[str, Any]) -> float:
    """Accepted requests a second."""
    return float(found["statuses"].get("202", 0) / found["seconds"])
