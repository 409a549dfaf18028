"""The memory of a worker's child after 1,000 and 10,000 steps, and after large maps."""

from dataclasses import dataclass
from typing import Any

import psutil

from tests.benchmarks import shapes
from tests.benchmarks.programs import Program, engine_worker
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

FIRST, FINAL, ROUND = 1_000, 10_000, 1_000
MOST = 0.20
MAPS = 4


@dataclass(frozen=True, slots=True)
class Growth:
    """MiB of the only child, by the number of steps that it has run."""

    rss: dict[int, float]
    pss: dict[int, float]
    maps: list[float]  # PSS after each map of 10,000 items

    @property
    def share(self) -> float:
        """The growth of PSS from 1,000 steps to 10,000."""
        return self.pss[FINAL] / self.pss[FIRST] - 1


def measure(stage: Stage) -> Growth:
    """Let one child execute all steps, half of them with an effect and half pure; return its
    memory.
    """
    worker = stage.add(engine_worker(stage.folder, concurrency=1))
    engine = Engine(stage, worker)
    chains = [_publish(engine, shapes.chain(use)) for use in ("bench.effect", "bench.pure")]
    growth = Growth({}, {}, [])
    child = None
    for steps in range(ROUND, FINAL + 1, ROUND):
        for workflow in chains:
            engine.run(workflow, ROUND // shapes.CHAIN // 2, shapes.CHAIN)
        child = _same(child, worker)
        memory = child.memory_full_info()
        growth.rss[steps] = memory.rss / 2**20
        growth.pss[steps] = memory.pss / 2**20
        say(f"{steps:6,} steps: RSS {growth.rss[steps]:.1f} MiB, PSS {growth.pss[steps]:.1f} MiB")
    mapped = _publish(engine, shapes.mapped("bench.pure"))
    for number in range(1, MAPS + 1):
        engine.run(mapped, 1, shapes.ITEMS + 1)
        growth.maps.append(_same(child, worker).memory_full_info().pss / 2**20)
        say(f"map {number} of {shapes.ITEMS:,} items: PSS {growth.maps[-1]:.1f} MiB")
    stage.end(worker)
    return growth


def _publish(engine: Engine, document: dict[str, Any]) -> Any:
    """Publish under a separate name: W1 and W6 publish the same shapes in this database."""
    return engine.publish(document | {"name": f"memory of {document['name']}"})


def _same(before: Any, worker: Program) -> Any:
    [child] = psutil.Process(worker.pid).children()
    if before is not None and before.pid != child.pid:
        raise RuntimeError("the child was replaced, so its growth says nothing")
    return child
