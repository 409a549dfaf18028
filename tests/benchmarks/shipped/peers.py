"""The stack's competitors: plain Celery with late acknowledgement, and the bare worker.

Each runs alone. Plain Celery is a worker of the same size on a Redis of the same kind; with late
acknowledgement, it loses no task when a worker dies, like this engine. The bare worker is the usual
subject of `make bench`: one worker on PostgreSQL and Redis, started in the same process.
"""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from celery.utils.nodenames import gethostname, nodename

from tests.benchmarks import databases, shapes
from tests.benchmarks.cpu import Meter
from tests.benchmarks.options import Options
from tests.benchmarks.programs import Program, plain_worker
from tests.benchmarks.shipped.loads import HELD, PLAIN, ShippedLoad
from tests.benchmarks.side import Side
from tests.benchmarks.sides import Canvas, Repetition, wait
from tests.benchmarks.stage import Stage

REDIS = 5  # of the bare worker
WARM = 0.1
PAUSE = 0.005


def plain(stage: Stage, options: Options, names: Sequence[str]) -> dict[str, Repetition]:
    """Return plain Celery's repetition of each load, on a worker that ends afterwards."""
    worker = stage.add(plain_worker(stage.folder, concurrency=options.concurrency, late=True))
    found = {}
    for name in dict.fromkeys(names):
        run, load = _runner(stage, worker, name), PLAIN[name]
        many = max(8, round(load.executions * options.scale))
        run(max(4, round(many * WARM)), load.steps)
        found[name] = run(many, load.steps)
    stage.end(worker)
    databases.forget(os.environ["BENCH_PLAIN_REDIS_URL"])
    return found


def bare(
    stage: Stage, options: Options, loads: Sequence[ShippedLoad], turn: int
) -> dict[str, Repetition]:
    """Return the bare worker's repetition of each load, in a new database."""
    found: dict[str, Repetition] = {}
    side = {"redis": REDIS, "concurrency": options.concurrency}
    with databases.fresh(stage.postgres.url, "bench_bare") as database:
        name = f"bare-{loads[0].name}-{turn}"
        with Side(stage, name=name, database=database, **side) as worker:
            worker.run("warm", 100)
            for load in loads:
                if load.bare:
                    found[load.name] = _of_side(worker, load, options.scale)
    databases.forget(databases.redis_database(stage.redis.url, REDIS))
    return found


def _of_side(worker: Side, load: ShippedLoad, scale: float) -> Repetition:
    many = load.sized(scale)
    if load.anew:
        parts = [worker.run(load.bare, many // load.anew, anew=True) for _ in range(load.anew)]
        return sum(parts[1:], parts[0])
    worker.run(load.bare, max(4, round(many * WARM)))
    return worker.run(load.bare, many)


def _runner(stage: Stage, worker: Program, name: str) -> Callable[[int, int], Repetition]:
    from tests.benchmarks import plain as app

    canvas, graphs = Canvas(stage, worker), {"chain": app.chained, "fan": app.fanned}
    if name in graphs:
        length = {"chain": shapes.CHAIN, "fan": shapes.FAN}[name]
        return lambda many, steps: canvas.run(lambda n: graphs[name](n, length), many, steps)
    return lambda many, _: _singles(stage, worker, many, held=name == HELD)


def _singles(stage: Stage, worker: Program, many: int, *, held: bool) -> Repetition:
    """Run tasks without canvas; with `held` they wait in the queue until the last is published."""
    from tests.benchmarks import plain as app

    control, queue = app.app.control, app.app.conf.task_default_queue
    meter = Meter(workers=worker.pid, postgres=stage.postgres.pid, redis=stage.redis.pid)
    who = [nodename(queue, gethostname())]
    if held:
        control.cancel_consumer(queue, destination=who, reply=True, timeout=5)
    began, cpu = time.perf_counter(), time.process_time()
    with app.app.producer_or_acquire() as producer:
        for number in range(many):
            app.step.apply_async((number,), producer=producer)
    starting, cpu = time.perf_counter() - began, time.process_time() - cpu
    if held:
        control.add_consumer(queue, destination=who, reply=True, timeout=5)
        wait(lambda: app.store().llen(queue) < many, stage, PAUSE)
        began, starting = time.perf_counter(), 0.0
    seconds = _until_empty(stage, app.store(), queue) - began
    return Repetition(many, seconds, starting, meter.used(cpu))


def _until_empty(stage: Stage, store: Any, queue: str) -> float:
    """Wait until no task waits or runs; return that time.

    The state must be seen three times, because a message that is being taken is in neither list for
    an instant. Counting tasks would be work for them.
    """
    seen: list[float] = []

    def empty() -> bool:
        if store.llen(queue) or store.hlen("unacked"):
            seen.clear()
        else:
            seen.append(time.perf_counter())
        return len(seen) >= 3

    wait(empty, stage, PAUSE)
    return seen[0]
