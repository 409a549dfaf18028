"""Metrics of this app: recorded steps, waiting times, and repairs.

An event is counted when it is final: a result is counted after its commit, and a repair is counted
by the duty that made it. Labels come from closed lists: modules, queues, outcomes and duties.
"""

import time
from collections import Counter as Tally
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial

from executions.database import transaction
from executions.observability.metric_values import DURATIONS, LATENCIES, Counter, Histogram
from runners.segment.work import Unit, Work
from runners.states import RunState

STEPS = Counter(
    "valkyr_steps_ended",
    "Attempts of steps that were recorded: success, retried, error (an edge handles it) or dead.",
    ["module", "outcome"],
)
DURATION = Histogram(
    "valkyr_step_duration_seconds",
    "Duration of a step's module, without steps recorded together with another step.",
    ["module"],
    buckets=DURATIONS,
)
FENCED = Counter(
    "valkyr_results_fenced",
    "Results that were rejected because the run was taken over or its execution ended.",
)
RECOVERIES = Counter(
    "valkyr_step_recoveries",
    "Steps taken over from lost workers, by the part that detected the loss.",
    ["noticed_by"],
)
DEATHS = Counter(
    "valkyr_step_deaths",
    "Runs whose worker was lost, by cause: the step, or unknown.",
    ["blamed"],
)
ISOLATED = Counter(
    "valkyr_isolated_steps",
    "Suspect steps executed in a separate process, by result: done, crashed, lost, or "
    "postponed because no process was free.",
    ["ended"],
)
DISPATCH = Histogram(
    "valkyr_dispatch_latency_seconds",
    "Time from sending a run to its queue until its claim, by the database's clock.",
    ["queue"],
    buckets=LATENCIES,
)
LEASE = Histogram(
    "valkyr_lease_latency_seconds",
    "Time from receiving a message until the lease is held: load, render, claim.",
    ["queue"],
    buckets=LATENCIES,
)
COMPENSATIONS = Counter(
    "valkyr_compensations",
    "Executions whose steps were undone: begun, done, or failed (an undo step is dead).",
    ["event"],
)
MENDS = Counter("valkyr_sweeper_mends", "Items that the sweeper continued, by duty.", ["duty"])
SWEEPS = Histogram(
    "valkyr_sweeper_duration_seconds",
    "Duration of one run of a sweeper duty.",
    ["duty"],
    buckets=(0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
SWEEP_FAILURES = Counter("valkyr_sweeper_failures", "Runs of a duty that failed.", ["duty"])
# Cached because every step uses them, and looking up a labelled metric costs as much as counting.
_steps, _duration = cache(STEPS.labels), cache(DURATION.labels)
_dispatch, _lease = cache(DISPATCH.labels), cache(LEASE.labels)


def recorded(work: Work, unit: Unit, state: str, *, retried: bool) -> None:
    """Count a recorded unit's steps, and record its duration, when its transaction commits."""
    transaction.on_commit(partial(_recorded, work, unit, _outcome(state, retried)), robust=True)


def compensated(event: str) -> None:
    """Count an event of a compensation (begun, done or failed) when the transaction commits."""
    transaction.on_commit(partial(COMPENSATIONS.labels(event).inc), robust=True)


def claimed(queue: str, sent_seconds: float | None, taken_up: float) -> None:
    """Record how long before the claim a run's message was sent and received.

    `taken_up` is a time of `time.perf_counter()`; 0 for further runs of the same message.
    """
    if sent_seconds is not None:
        _dispatch(queue).observe(max(0.0, sent_seconds))
    if taken_up:
        _lease(queue).observe(time.perf_counter() - taken_up)


@contextmanager
def swept(duty: str) -> Iterator[None]:
    """Measure the duration of a duty of the sweeper, and count the duty's failure."""
    began = time.perf_counter()
    try:
        yield
    except Exception:
        SWEEP_FAILURES.labels(duty).inc()
        raise
    finally:
        SWEEPS.labels(duty).observe(time.perf_counter() - began)


def _outcome(state: str, retried: bool) -> str:
    if state == RunState.SUCCESS:
        return "success"
    if state == RunState.DLQ:
        return "dead"
    return "retried" if retried else "error"


def _recorded(work: Work, unit: Unit, outcome: str) -> None:
    module = work.step.module
    _steps(module, outcome).inc()
    milliseconds = unit.head.milliseconds if unit.head else unit.milliseconds
    _duration(module).observe(milliseconds / 1000)
    if unit.more:
        for more, number in Tally(done.step.module for done in unit.more).items():
            _steps(more, "success").inc(number)
