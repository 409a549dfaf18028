"""The work that is sent to a stack, and plain Celery's equivalent."""

from dataclasses import dataclass
from typing import Any

from tests.benchmarks import shapes

HELD = "single-backlog"


@dataclass(frozen=True, slots=True)
class ShippedLoad:
    """Executions of one graph; `plain` names plain Celery's equivalent and `bare` the bare
    worker's.

    If `anew` is set, this number of new workflows share the executions, so that no step has been
    timed before. If `held` is set, work waits in the queue until the last execution is accepted;
    the rate counts from the first step.
    """

    name: str
    title: str
    document: dict[str, Any]
    executions: int
    steps: int
    plain: str
    bare: str = ""
    anew: int = 0
    held: bool = False

    def sized(self, scale: float) -> int:
        """Return the number of executions for this share of the full size."""
        if self.anew:
            return self.executions
        return max(8, round(self.executions * scale))


@dataclass(frozen=True, slots=True)
class PlainLoad:
    """Plain Celery's side; it gets less work, because its rate does not depend on the amount."""

    executions: int
    steps: int


CHAINS, FANS, SINGLES = 400, 100, 2_000
LONG, WIDE = shapes.CHAIN, shapes.FAN + 2
_effects, _pure = shapes.fan("bench.effect"), shapes.fan("bench.pure")
_chain, _pure_chain = shapes.chain("bench.effect"), shapes.chain("bench.pure")
_one = shapes.single("bench.effect", {"value": "{{ input.n }}"})
# Wakes a stack before the measurement; the work after it is new to the engine.
WARM = ShippedLoad("warm", "", shapes.single("bench.pure", {"value": 1}), 100, 1, "")

LOADS = {
    "shipped-chain": (
        ShippedLoad("chain-effect", "chain of 20, effects", _chain, CHAINS, LONG, "chain", "W1e"),
        ShippedLoad("chain-pure", "chain of 20, pure", _pure_chain, CHAINS, LONG, "chain", "W1p"),
    ),
    "shipped-fan": (
        ShippedLoad(
            "fan-cold", "fan of 50 + 2, effects, cold", _effects, 12, WIDE, "fan", "W2e", anew=3
        ),
        ShippedLoad("fan-warm", "fan of 50 + 2, effects, warm", _effects, FANS, WIDE, "fan", "W2e"),
        ShippedLoad("fan-pure", "fan of 50 + 2, pure", _pure, FANS, WIDE, "fan", "W2p"),
    ),
    "shipped-single": (
        ShippedLoad("single-batch", "single step, by batches", _one, SINGLES, 1, "single", "one"),
        ShippedLoad(
            "single-backlog", "single step, from a backlog", _one, SINGLES, 1, HELD, held=True
        ),
    ),
}
PLAIN = {
    "chain": PlainLoad(150, LONG),
    "fan": PlainLoad(40, WIDE),
    "single": PlainLoad(SINGLES, 1),
    HELD: PlainLoad(SINGLES, 1),
}
EVERY = tuple(load for loads in LOADS.values() for load in loads)
