"""W1, W2 and W6: both sides alternately, and the median of each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tests.benchmarks import shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import Program, engine_worker, plain_worker
from tests.benchmarks.sides import Canvas, Engine, Repetition
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

WARM = 0.1  # of a repetition, before the first
PLAIN_ITEMS = 4_000


@dataclass(frozen=True, slots=True)
class Workload:
    """A shape, the number of its executions, and the wanted multiple of plain Celery's rate.

    Plain Celery gets less work, because its rate and its CPU per step do not change with the
    amount, and it takes three to eight times as long.
    """

    name: str
    document: dict[str, Any]
    plain: Callable[[int], Any]
    executions: int
    steps: int
    wanted: float
    plain_executions: int
    plain_steps: int
    cold: bool = False  # a separate workflow for each repetition: no step was ever timed


@dataclass(slots=True)
class Outcome:
    """The repetitions of one workload."""

    workload: Workload
    engine: list[Repetition] = field(default_factory=list)
    celery: list[Repetition] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of the pairs' ratios; 0 if Celery was left out."""
        pairs = zip(self.engine, self.celery, strict=False)
        return median([ours.rate / theirs.rate for ours, theirs in pairs] or [0.0])


def workloads() -> list[Workload]:
    """Return all workloads."""
    from tests.benchmarks import plain

    def chained(number: int) -> Any:
        return plain.chained(number, shapes.CHAIN)

    def fanned(number: int) -> Any:
        return plain.fanned(number, shapes.FAN)

    def mapped(number: int) -> Any:
        return plain.fanned(number, PLAIN_ITEMS)

    chain, fan, fan_steps = shapes.chain, shapes.fan, shapes.FAN + 2
    chains, fans = (150, shapes.CHAIN), (40, fan_steps)
    return [
        Workload("W1e", chain("bench.effect"), chained, 400, shapes.CHAIN, 3.0, *chains),
        Workload("W1p", chain("bench.pure"), chained, 400, shapes.CHAIN, 8.0, *chains),
        Workload("W2e", fan("bench.effect"), fanned, 100, fan_steps, 1.0, *fans),
        Workload("W2c", fan("bench.effect"), fanned, 4, fan_steps, 1.5, *fans, cold=True),
        Workload("W2p", fan("bench.pure"), fanned, 100, fan_steps, 5.0, *fans),
        Workload(
            *("W6", shapes.mapped("bench.pure"), mapped, 1, shapes.ITEMS + 1, 5.0),
            *(1, PLAIN_ITEMS + 2),
        ),
    ]


class Turns:
    """Both sides alternately, on one worker each: started when first needed, and again after a
    failure.
    """

    def __init__(self, stage: Stage, options: Options) -> None:
        self._stage = stage
        self._options = options
        self._workers: list[Program] = []
        self._known = {workload.name: workload for workload in workloads()}

    def measure(self, name: str) -> Outcome:
        """Measure one workload, after a warm-up."""
        engine, canvas = self._sides()
        return _measure(self._known[name], engine, canvas, self._options)

    def end(self) -> None:
        """End the workers that still run."""
        for worker in self._workers:
            if worker in self._stage.programs:
                self._stage.end(worker)

    def _sides(self) -> tuple[Engine, Canvas | None]:
        stage, many = self._stage, self._options.concurrency
        if not self._workers or self._workers[0] not in stage.programs:
            self._workers = [stage.add(engine_worker(stage.folder, concurrency=many))]
            if not self._options.engine_only:
                self._workers.append(stage.add(plain_worker(stage.folder, concurrency=many)))
        engine, *peer = self._workers
        return Engine(stage, engine), Canvas(stage, peer[0]) if peer else None


def _measure(
    workload: Workload, engine: Engine, canvas: Canvas | None, options: Options
) -> Outcome:
    executions = _share(workload.executions, options.scale)
    plain_executions = _share(workload.plain_executions, options.scale)
    workflow = engine.publish(_renamed(workload.document, workload.name))
    engine.run(workflow, _share(executions, WARM), workload.steps)
    if canvas is not None:
        canvas.run(workload.plain, _share(plain_executions, WARM), workload.plain_steps)
    outcome = Outcome(workload)
    for number in range(options.pairs):
        if workload.cold:
            workflow = engine.publish(_renamed(workload.document, f"cold {number}"))
        ours = engine.run(workflow, executions, workload.steps)
        outcome.engine.append(ours)
        text = f"{workload.name} {number + 1}/{options.pairs}: engine {_said(ours)}"
        if canvas is not None:
            theirs = canvas.run(workload.plain, plain_executions, workload.plain_steps)
            outcome.celery.append(theirs)
            text += f"; Celery {_said(theirs)}; ratio {ours.rate / theirs.rate:.2f}"
        say(text)
    return outcome


def _renamed(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the same graph under another name: two workloads may share one graph."""
    return document | {"name": f"{document['name']} {name}"}


def _share(executions: int, share: float) -> int:
    """Return a share of the executions, but at least four if there are that many."""
    return round(max(min(4, executions), executions * share))


def _said(repetition: Repetition) -> str:
    return f"{repetition.rate:,.0f} steps/s, {repetition.cpu_ms:.2f} ms CPU a step"
