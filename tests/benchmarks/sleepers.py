"""Ten thousand executions that sleep until one instant: the API's latency while all wake up.

The processes of a stack serve them: web, one control worker, one step worker, beat. While
everything sleeps, no worker is occupied. At the instant, the sweeper wakes all, and two callers
continue to use the API (a list, and a new execution).
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from tests.benchmarks import shapes
from tests.benchmarks.callers import Caller, calling
from tests.benchmarks.dispatch_time import sign_in
from tests.benchmarks.options import Options
from tests.benchmarks.programs import beat, control_worker, engine_worker, web
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.sides import BATCH, Engine, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port

SLEEPERS = 10_000
REST = 8.0  # seconds of sleep in which the API is measured
PATIENCE = 600.0  # for all to fall asleep, and for all to end
# The end of their sleep is moved once all sleep: how long that takes is not known before.
DELAY = {"seconds": 86_400}


@dataclass(frozen=True, slots=True)
class Answers:
    """Milliseconds of one caller's requests."""

    rest: Quantiles
    burst: Quantiles
    requests: int  # during the burst
    worst: float


@dataclass(frozen=True, slots=True)
class Sleep:
    """The durations of the sleepers' end, in seconds."""

    sleepers: int
    falling: float  # from the first start until all were asleep
    first: float  # from the instant until the first had ended
    ended: float  # until all had ended
    late: Quantiles  # from the instant until each was woken
    answers: dict[str, Answers]


def measure(stage: Stage, options: Options) -> Sleep:
    """Let all executions fall asleep, and measure as they wake up."""
    number = max(100, round(SLEEPERS * options.scale))
    worker = stage.add(
        engine_worker(stage.folder, concurrency=options.concurrency, queues="default")
    )
    stage.add(control_worker(stage.folder))
    stage.add(beat(stage.folder))
    port = free_port()
    stage.add(web(stage.folder, port))
    engine = Engine(stage, worker)
    sleeper = engine.publish(shapes.single("flow.delay", DELAY))
    noop = engine.publish(shapes.single("flow.noop", {}))
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
        sign_in(client, stage)
        began = time.time()
        ours = _start(sleeper, number)
        say(f"{number:,} executions started in {time.time() - began:.1f} s")
        _fall_asleep(ours, number, stage)
        falling = time.time() - began
        say(f"all asleep after {falling:.1f} s; none holds a worker")
        callers = {
            "list executions": Caller(client, "GET", "/v1/WorkflowExecution?limit=50"),
            "start one": Caller(
                client, "POST", f"/v1/WorkflowExecution/{noop.pk}/execute", {"params": {}}
            ),
        }
        instant = _watch(callers, ours, stage)
    return _result(number, falling, instant, sleeper, callers)


def _start(workflow: Any, number: int) -> Any:
    from executions.access.actor import Actor
    from executions.models import WorkflowExecution
    from executions.triggers.start import start_batch

    for first in range(0, number, BATCH):
        many = min(BATCH, number - first)
        start_batch(workflow, [{}] * many, actor=Actor.system("benchmark"))
    return WorkflowExecution.objects.filter(workflow=workflow)


def _fall_asleep(ours: Any, number: int, stage: Stage) -> None:
    from runners.models import Run

    until = time.monotonic() + PATIENCE
    told = 0
    while told < number:
        stage.check()
        asleep = Run.objects.filter(state="WAITING", finished_at=None).count()
        if asleep - told >= number / 4 or asleep == number:
            say(f"{asleep:6,} asleep")
            told = asleep
        if time.monotonic() > until:
            raise RuntimeError(f"{asleep:,} of {number:,} asleep.\n{stage.last_lines()}")
        time.sleep(0.5)


def _watch(callers: dict[str, Caller], ours: Any, stage: Stage) -> float:
    """Repeat requests to the API, at rest and until all have ended; return the instant of
    waking.
    """
    with calling(callers):
        instant = _set_alarm()
        wait(
            lambda: not ours.filter(state="RUNNING", finished_at=None).exists(),
            stage,
            0.2,
            PATIENCE,
        )
    return instant


def _set_alarm() -> float:
    """Move all timers to one instant; return it."""
    from runners.models import Run

    instant = datetime.now(UTC) + timedelta(seconds=REST)
    Run.objects.filter(state="WAITING", finished_at=None).update(due_at=instant)
    return instant.timestamp()


def _result(
    number: int, falling: float, instant: float, workflow: Any, callers: dict[str, Caller]
) -> Sleep:
    from executions.models import WorkflowExecution
    from runners.models import Run

    rows = WorkflowExecution.objects.filter(workflow=workflow, state="SUCCESS")
    ends = sorted(at.timestamp() for at in rows.values_list("finished_at", flat=True))
    if len(ends) != number:
        raise RuntimeError(f"{len(ends):,} of {number:,} executions succeeded")
    runs = Run.objects.filter(execution__workflow=workflow).only("started_at", "outputs")
    woken = [run.started_at.timestamp() + run.outputs["waitedSeconds"] - instant for run in runs]
    return Sleep(
        number,
        falling,
        ends[0] - instant,
        ends[-1] - instant,
        quantiles(woken),
        {name: _answers(one, instant, ends[-1]) for name, one in callers.items()},
    )


def _answers(caller: Caller, instant: float, ended: float) -> Answers:
    """Return a caller's figures before the instant, and from then until all had ended."""
    burst = caller.between(instant, ended)
    rest = caller.between(0, instant)
    return Answers(quantiles(rest), quantiles(burst), len(burst), max(burst))
