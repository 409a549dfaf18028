"""W1, W2 and W6: both sides by turns, the median of each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tests.benchmarks import shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_worker, plain_worker
from tests.benchmarks.sides import Canvas, Engine, Repetition
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say


@dataclass(frozen=True, slots=True)
class Workload:
    """A shape, how often it runs at once, and how many times plain Celery's rate is wanted."""

    name: str
    document: dict[str, Any]
    plain: Callable[[int], Any]
    executions: int
    steps: int
    wanted: float


@dataclass(slots=True)
class Outcome:
    """The repetitions of one workload."""

    workload: Workload
    engine: list[Repetition] = field(default_factory=list)
    celery: list[Repetition] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of the pairs' ratios; 0 when Celery was left out."""
        pairs = zip(self.engine, self.celery, strict=False)
        return median([ours.rate / theirs.rate for ours, theirs in pairs] or [0.0])


def workloads() -> list[Workload]:
    """All of them."""
    from tests.benchmarks import plain

    def chained(number: int) -> Any:
        return plain.chained(number, shapes.CHAIN)

    def fanned(number: int) -> Any:
        return plain.fanned(number, shapes.FAN)

    def mapped(number: int) -> Any:
        return plain.fanned(number, shapes.ITEMS)

    chain, fan, fan_steps = shapes.chain, shapes.fan, shapes.FAN + 2
    return [
        Workload("W1e", chain("bench.effect"), chained, 400, shapes.CHAIN, 3.0),
        Workload("W1p", chain("bench.pure"), chained, 400, shapes.CHAIN, 8.0),
        Workload("W2e", fan("bench.effect"), fanned, 100, fan_steps, 1.0),
        Workload("W2p", fan("bench.pure"), fanned, 100, fan_steps, 5.0),
        Workload("W6", shapes.mapped("bench.pure"), mapped, 1, shapes.ITEMS + 1, 5.0),
    ]


def measure(stage: Stage, options: Options) -> list[Outcome]:
    """Run the chosen workloads with one worker a side; each is warmed up first."""
    chosen = [workload for workload in workloads() if workload.name in options.only]
    if not chosen:
        return []
    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    peer = stage.add(plain_worker(stage.folder, concurrency=options.concurrency))
    sides = Engine(stage, worker), Canvas(stage, peer)
    outcomes = [_measure(workload, *sides, options) for workload in chosen]
    stage.end(worker)
    stage.end(peer)
    return outcomes


def _measure(workload: Workload, engine: Engine, canvas: Canvas, options: Options) -> Outcome:
    executions = round(max(min(4, workload.executions), workload.executions * options.scale))
    warm = max(min(4, executions), executions // 10)
    workflow = engine.publish(workload.document)
    engine.run(workflow, warm, workload.steps)
    if not options.engine_only:
        canvas.run(workload.plain, warm, workload.steps)
    outcome = Outcome(workload)
    for number in range(options.pairs):
        ours = engine.run(workflow, executions, workload.steps)
        outcome.engine.append(ours)
        text = f"{workload.name} {number + 1}/{options.pairs}: engine {_said(ours)}"
        if not options.engine_only:
            theirs = canvas.run(workload.plain, executions, workload.steps)
            outcome.celery.append(theirs)
            text += f"; Celery {_said(theirs)}; ratio {ours.rate / theirs.rate:.2f}"
        say(text)
    return outcome


def _said(repetition: Repetition) -> str:
    return f"{repetition.rate:,.0f} steps/s, {repetition.cpu_ms:.2f} ms CPU a step"
