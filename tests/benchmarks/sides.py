"""One repetition of a workload on one side: publish, wait until all is finished, measure."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.cast import Cast
from tests.benchmarks.cpu import Meter, Usage
from tests.benchmarks.programs import Program

BATCH = 100
PATIENCE = 180.0


@dataclass(frozen=True, slots=True)
class Repetition:
    """The cost of one repetition."""

    steps: int
    seconds: float
    starting: float  # seconds of them spent publishing
    usage: Usage

    @property
    def rate(self) -> float:
        """Steps per second, from before publishing starts until all are finished."""
        return self.steps / self.seconds

    @property
    def cpu_ms(self) -> float:
        """CPU milliseconds per step of all processes."""
        return 1000 * self.usage.total / self.steps

    @property
    def engine_ms(self) -> float:
        """CPU milliseconds per step of the workers and the publisher."""
        return 1000 * (self.usage.workers + self.usage.publisher) / self.steps

    @property
    def database_ms(self) -> float:
        """CPU milliseconds per step of PostgreSQL."""
        return 1000 * self.usage.postgres / self.steps

    @property
    def broker_ms(self) -> float:
        """CPU milliseconds per step of Redis."""
        return 1000 * self.usage.redis / self.steps

    def __add__(self, other: "Repetition") -> "Repetition":
        return Repetition(
            self.steps + other.steps,
            self.seconds + other.seconds,
            self.starting + other.starting,
            self.usage + other.usage,
        )


def wait(
    finished: Callable[[], bool], stage: Cast, pause: float, patience: float = PATIENCE
) -> None:
    """Return when `finished()` is true. Raise RuntimeError if it takes too long or a process
    ended.
    """
    deadline = time.monotonic() + patience
    while not finished():
        stage.check()
        if time.monotonic() > deadline:
            raise RuntimeError(f"not finished after {patience:.0f} s.\n{stage.last_lines()}")
        time.sleep(pause)


class Engine:
    """This engine, started through the function that all entry points call."""

    def __init__(self, stage: Cast, worker: Program) -> None:
        self._stage = stage
        self._worker = worker

    def publish(self, document: dict[str, Any]) -> Any:
        """Define and publish a workflow."""
        from executions.access.actor import Actor
        from executions.models import Workspace
        from executions.publishing import versioning

        actor = Actor.system("benchmark")
        workspace = Workspace.objects.get(slug="default")
        workflow = versioning.create_workflow(
            workspace, name=document["name"], definition=document, actor=actor
        )
        versioning.publish(workflow.pk, actor=actor)
        workflow.refresh_from_db()
        return workflow

    def run(self, workflow: Any, executions: int, steps: int) -> Repetition:
        """Start this number of executions in batches of 100 and wait until the last has
        finished.
        """
        from django.db.models import Max

        from executions.access.actor import Actor
        from executions.models import WorkflowExecution
        from executions.triggers.start import start_batch

        meter = self._meter()
        began, cpu = time.time(), time.process_time()
        started = []
        for first in range(0, executions, BATCH):
            numbers = range(first, min(first + BATCH, executions))
            started += start_batch(
                workflow, [{"n": n} for n in numbers], actor=Actor.system("benchmark")
            )
        starting = time.time() - began
        cpu = time.process_time() - cpu
        ours = WorkflowExecution.objects.filter(workflow=workflow, pk__gte=started[0].pk)
        wait(lambda: not ours.filter(state="RUNNING", finished_at=None).exists(), self._stage, 0.05)
        usage = meter.used(cpu)
        ended = ours.aggregate(last=Max("finished_at"))["last"].timestamp()
        check(ours, executions, steps)
        return Repetition(executions * steps, ended - began, starting, usage)

    def _meter(self) -> Meter:
        return Meter(
            workers=self._worker.pid,
            postgres=self._stage.postgres.pid,
            redis=self._stage.redis.pid,
        )


def check(executions: Any, expected: int, steps: int) -> None:
    """Raise unless all executions and steps succeeded: speed does not count if steps are lost."""
    from runners.models import Run

    good = executions.filter(state="SUCCESS").count()
    runs = Run.objects.filter(execution__in=executions, state="SUCCESS").count()
    if (good, runs) != (expected, expected * steps):
        raise RuntimeError(
            f"{good} of {expected} executions and {runs} of {expected * steps} runs succeeded"
        )


class Canvas:
    """Plain Celery canvas."""

    def __init__(self, stage: Cast, worker: Program) -> None:
        self._stage = stage
        self._worker = worker

    def run(self, make: Callable[[int], Any], executions: int, steps: int) -> Repetition:
        """Publish this number of graphs over one connection and wait until each has counted
        itself.
        """
        from tests.benchmarks import plain

        store = plain.store()
        store.delete(plain.FINISHED)
        meter = Meter(
            workers=self._worker.pid,
            postgres=self._stage.postgres.pid,
            redis=self._stage.redis.pid,
        )
        began, cpu = time.perf_counter(), time.process_time()
        with plain.app.producer_or_acquire() as producer:
            for number in range(executions):
                make(number).apply_async(producer=producer)
        starting = time.perf_counter() - began
        cpu = time.process_time() - cpu
        wait(lambda: int(store.get(plain.FINISHED) or 0) >= executions, self._stage, 0.005)
        seconds = time.perf_counter() - began
        return Repetition(executions * steps, seconds, starting, meter.used(cpu))
