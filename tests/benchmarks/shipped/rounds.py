"""Plain Celery, the bare worker and a fresh stack, one after another, repeatedly.

Each has the machine to itself. A ratio belongs to one round; the median is reported.
"""

from dataclasses import dataclass, field
from statistics import median

from tests.benchmarks.figures import Figures
from tests.benchmarks.options import Options
from tests.benchmarks.shipped import peers
from tests.benchmarks.shipped.client import StackClient, Stretch
from tests.benchmarks.shipped.homes import Homes
from tests.benchmarks.shipped.loads import LOADS, ShippedLoad
from tests.benchmarks.sides import Repetition
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say


@dataclass(slots=True)
class Rounds:
    """The results of each round for one load; the bare worker and plain Celery may be left out."""

    load: ShippedLoad
    shipped: list[Stretch] = field(default_factory=list)
    bare: list[Repetition] = field(default_factory=list)
    plain: list[Repetition] = field(default_factory=list)

    def figures(self) -> Figures:
        """Return medians, and the medians of the rounds' ratios to plain Celery."""
        name = f"shipped.{self.load.name}"
        found = {
            f"{name}.rate": median([made.rate for made in self.shipped]),
            f"{name}.cpu_ms": median([made.cpu_ms for made in self.shipped]),
        }
        for process in sorted({one for made in self.shipped for one in made.cpu}):
            used = [made.by_process().get(process, 0.0) for made in self.shipped]
            found[f"{name}.cpu_ms.{process}"] = median(used)
        for side, made in (("bare", self.bare), ("plain", self.plain)):
            if made:
                found[f"{name}.{side}.rate"] = median([one.rate for one in made])
                found[f"{name}.{side}.cpu_ms"] = median([one.cpu_ms for one in made])
        for key, ours in (("ratio", self.shipped), ("bare.ratio", self.bare)):
            pairs = list(zip(ours, self.plain, strict=False))
            if pairs:
                found[f"{name}.{key}"] = median([one.rate / other.rate for one, other in pairs])
        return found


def measure(stage: Stage, options: Options, homes: Homes, part: str) -> Figures:
    """Measure the loads of one part."""
    found = [Rounds(load) for load in LOADS[part]]
    turns = 1 if options.quick else options.pairs
    for turn in range(turns):
        _peers(stage, options, found, turn)
        with homes.started(f"{part}-{turn}") as stack, StackClient(stack, stage) as client:
            client.warm_up()
            for one in found:
                one.shipped.append(client.measured(one.load, options.scale))
                say(f"{part} {turn + 1}/{turns}: {_said(one)}")
    return {key: value for one in found for key, value in one.figures().items()}


def _peers(stage: Stage, options: Options, found: list[Rounds], turn: int) -> None:
    loads = [one.load for one in found]
    if not options.engine_only:
        theirs = peers.plain(stage, options, [load.plain for load in loads])
        for one in found:
            one.plain.append(theirs[one.load.plain])
    bare = peers.bare(stage, options, loads, turn)
    for one in found:
        if one.load.name in bare:
            one.bare.append(bare[one.load.name])


def _said(one: Rounds) -> str:
    made = one.shipped[-1]
    text = f"{one.load.title}: {made.rate:,.0f} steps/s, {made.cpu_ms:.2f} ms of all CPU a step"
    for side, theirs in (("bare worker", one.bare), ("plain Celery", one.plain)):
        if theirs:
            text += f"; {side} {theirs[-1].rate:,.0f}, {theirs[-1].cpu_ms:.2f} ms"
    return text + (f"; {made.rate / one.plain[-1].rate:.2f} x" if one.plain else "")
