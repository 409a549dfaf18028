"""W5: the number of executions that the API accepts, one or a thousand per request.

Sixteen clients, the ASGI server with two processes, no worker: this measures the entry point. The
comparison is a bare DRF view on the same database that inserts one row with the same checks
(`bare.py`).
"""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import httpx

from tests.benchmarks import shapes
from tests.benchmarks.dispatch_time import sign_in
from tests.benchmarks.options import Options
from tests.benchmarks.programs import PROJECT, engine_worker, web
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.sides import Engine, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port

CLIENTS = 16
TURNS = 3  # of the API and the bare view
TURN = 4.0  # seconds
SECONDS = 8.0  # of batches, and at half the highest rate
BATCH = 200
PROCESSES = 2
BARE = "tests.benchmarks.bare_settings"


@dataclass(frozen=True, slots=True)
class Triggering:
    """Executions accepted per second, and milliseconds per request at half the highest rate."""

    single: float
    bare: float
    ratio: float  # single triggers beside the bare view: the median of the turns'
    batch: float
    half_rate: float
    at_half: Quantiles
    refused: int


@dataclass(frozen=True, slots=True)
class Door:
    """The address for requests, and the token; `runs` has the results of each measurement."""

    port: int
    token: str
    runs: list[dict[str, Any]] = field(default_factory=list)

    def rate(self, path: str, body: str, seconds: float, most: float = 0.0) -> float:
        """Return the accepted requests per second; `most` limits the rate if it is not 0."""
        self.runs.append(requests_of(self.port, path, self.token, body, seconds, most))
        return _rate(self.runs[-1])


def measure(stage: Stage, options: Options) -> Triggering | None:
    """Measure the bare view and the API alternately, then the API at half its rate and in
    batches.
    """
    if "W5" not in options.only:
        return None
    scale = min(1.0, 2 * options.scale)
    workflow = _publish(stage, options)
    api, bare = _serve(stage)
    body = json.dumps({"params": {"n": 1}})
    address, plain = f"/v1/WorkflowExecution/{workflow.pk}/execute", f"/bare/{workflow.pk}"
    for door, path in ((bare, plain), (api, address)):
        door.rate(path, body, 2.0)  # both processes load what their first requests load
    turn, seconds = max(2.0, TURN * scale), max(3.0, SECONDS * scale)
    pairs = [(bare.rate(plain, body, turn), api.rate(address, body, turn)) for _ in range(TURNS)]
    single = median(ours for _, ours in pairs)
    api.rate(address, body, seconds, single / 2)
    at_half = quantiles(api.runs[-1]["ms"])
    many = json.dumps({"payloads": [{"n": 1}] * BATCH})
    batch = BATCH * api.rate(f"{address}-batch", many, seconds)
    for server in stage.programs[-2:]:
        stage.end(server)
    found = Triggering(
        single=single,
        bare=median(theirs for theirs, _ in pairs),
        ratio=median(ours / theirs for theirs, ours in pairs),
        batch=batch,
        half_rate=single / 2,
        at_half=at_half,
        refused=sum(map(_refused, api.runs + bare.runs)),
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


def _serve(stage: Stage) -> tuple[Door, Door]:
    """Start the API and the bare view, each on a server of two processes."""
    port, bare = free_port(), free_port()
    stage.add(web(stage.folder, port, processes=PROCESSES))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        sign_in(client, stage)
        token = client.headers["Authorization"].removeprefix("Bearer ")
    stage.add(web(stage.folder, bare, processes=PROCESSES, settings=BARE))
    wait(lambda: _answers(bare), stage, 0.2)
    return Door(port, token), Door(bare, token)


def _answers(port: int) -> bool:
    try:
        return httpx.post(f"http://127.0.0.1:{port}/v1/none", timeout=5).status_code < 500
    except httpx.TransportError:
        return False


def requests_of(
    port: int, path: str, token: str, body: str, seconds: float, rate: float = 0.0
) -> dict[str, Any]:
    """Return the answers to sixteen clients, which run in a separate process (load.py)."""
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
    """Return the accepted requests per second."""
    return float(found["statuses"].get("202", 0) / found["seconds"])


def _refused(found: dict[str, Any]) -> int:
    return sum(count for status, count in found["statuses"].items() if status != "202")
