"""Ten thousand executions alive at once, and a quarter of a million steps pending.

Each execution has 25 steps with an effect that are ready together; they are created as growing.py
describes, while no step worker runs. Then workers run for a minute together with beat, the sweeper
and two callers of the API. The benchmark does not wait for the end: it measures the engine under
this load.
"""

import time
from dataclasses import dataclass
from typing import Any

import httpx
import psutil

from tests.benchmarks import shapes
from tests.benchmarks.callers import Caller, calling
from tests.benchmarks.cast import Cast
from tests.benchmarks.cpu import tree_seconds
from tests.benchmarks.dispatch_time import sign_in
from tests.benchmarks.growing import grow
from tests.benchmarks.options import Options
from tests.benchmarks.programs import Program, beat, control_worker, engine_worker, web
from tests.benchmarks.quantiles import Quantiles
from tests.benchmarks.sides import Engine
from tests.benchmarks.talk import say
from tests.benchmarks.ticks import longest
from valkyr_project.embedded.child import free_port

EXECUTIONS = 10_000
STEPS = 25
SAMPLE = 100  # executions of a tenth that the engine started
SECONDS = 60.0
SETTLE = 5.0  # seconds of work before memory is first read


@dataclass(frozen=True, slots=True)
class Crowd:
    """The figures of the minute; memory in MiB (PSS) of the step worker's children."""

    alive: int
    pending: int
    growing: list[float]  # executions accepted per second, by tenth
    rate: float  # steps a second
    runner_share: float  # CPU of the worker of steps, per core that it could use
    stack_share: float  # CPU of workers, web, beat and both servers, per core of the machine
    cores: int
    memory: list[float]  # at the start and at the end of the minute
    ticks: dict[str, float]  # milliseconds
    answers: dict[str, Quantiles]  # milliseconds

    @property
    def longest_tick(self) -> float:
        """Milliseconds of the longest run of any duty."""
        return max(self.ticks.values(), default=0.0)


def measure(cast: Cast, options: Options) -> Crowd:
    """Start all executions, then measure for a minute."""
    many = max(200, round(EXECUTIONS * options.scale))
    seconds = max(10.0, SECONDS * min(1.0, 2 * options.scale))
    control = cast.add(control_worker(cast.folder, timed=True))
    clock = cast.add(beat(cast.folder))
    port = free_port()
    server = cast.add(web(cast.folder, port))
    workflow = Engine(cast, control).publish(shapes.abreast("bench.effect", STEPS))
    growing = grow(workflow, many, SAMPLE)
    pending = _pending()
    say(f"crowd: {many:,} executions alive, {pending:,} steps pending; starting workers")
    worker = cast.add(engine_worker(cast.folder, concurrency=options.concurrency, queues="default"))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        sign_in(client, cast)
        callers = _callers(client, workflow)
        _settle(worker)
        roots = [control.pid, clock.pid, server.pid, cast.postgres.pid, cast.redis.pid]
        memory = [_memory(worker)]
        before, began = _read(worker, roots), time.monotonic()
        done = _done()
        with calling(callers):
            while time.monotonic() < began + seconds and _any_pending():
                cast.check()
                time.sleep(1.0)
        took = time.monotonic() - began
        after = _read(worker, roots)
        memory.append(_memory(worker))
        rate = (_done() - done) / took
    cores = psutil.cpu_count() or 1
    runner, stack = after[0] - before[0], sum(after) - sum(before)
    found = Crowd(
        many, pending, growing, rate, runner / took / options.concurrency, stack / took / cores,
        cores, memory, longest(), {name: one.quantiles() for name, one in callers.items()},
    )  # fmt: skip
    say(
        f"crowd: {rate:,.0f} steps/s, longest tick {found.longest_tick:.0f} ms, runner CPU "
        f"{found.runner_share:.0%} of {options.concurrency} cores"
    )
    return found


def _callers(client: httpx.Client, workflow: Any) -> dict[str, Caller]:
    start = f"/v1/WorkflowExecution/{workflow.pk}/execute"
    return {
        "list executions": Caller(client, "GET", "/v1/WorkflowExecution"),
        "list pending runs": Caller(client, "GET", "/v1/Run?state=PENDING"),
        "start one": Caller(client, "POST", start, {"params": {}}),
    }


def _settle(worker: Program) -> None:
    """Wait until children have started and loaded what they need."""
    until = time.monotonic() + 60
    while not psutil.Process(worker.pid).children() and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(SETTLE)


def _memory(worker: Program) -> float:
    children = psutil.Process(worker.pid).children()
    return float(max(child.memory_full_info().pss for child in children)) / 2**20


def _read(worker: Program, roots: list[int]) -> list[float]:
    return [tree_seconds(worker.pid), *map(tree_seconds, roots)]


def _pending() -> int:
    from runners.models import Run

    return int(Run.objects.filter(state="PENDING", finished_at=None).count())


def _any_pending() -> bool:
    from runners.models import Run

    return bool(Run.objects.filter(state="PENDING", finished_at=None).exists())


def _done() -> int:
    from runners.models import Run

    return int(Run.objects.filter(state="SUCCESS").count())
