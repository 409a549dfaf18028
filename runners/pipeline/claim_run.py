"""Look at a segment's live run and claim it: the token in the row is the fence."""

import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from executions.definition.graph.model import Step
from executions.definition.graph.places import find, place_of, split
from executions.definition.templates import TemplateError
from executions.definition.versions import Compiled, compiled
from executions.errors import PayloadError
from runners import statements
from runners.conf import config
from runners.dispatch import estimates
from runners.dispatch.messages import resend
from runners.failures.classification import Failure, classify, template_failure
from runners.observability import metrics
from runners.observability.tracing import tell_taken_over
from runners.process import activity
from runners.process.cause_of_death import Death, judge
from runners.process.identity import gone, process_identity
from runners.segment.context import SegmentContext
from runners.segment.inputs import Prepared, prepare, restored
from runners.segment.run_rows import release
from runners.segment.state import Pack, SegmentState
from runners.segment.template_data import TemplateData, reads_of
from runners.segment.work import LiveRun, Work
from runners.states import HOLDS, ErrorType, RunState

Inputs = tuple[Prepared | None, Failure | None]  # of a step, or why they cannot be made
CLAIMABLE = (RunState.PENDING, RunState.RUNNING)


def load(
    execution_id: UUID,
    version_id: UUID,
    segment: str,
    *,
    links: tuple[str, ...] = (),
    header: bool = False,
    others: Sequence[str] = (),
    states: tuple[str, ...] = CLAIMABLE,
) -> tuple[SegmentState, LiveRun] | None:
    """The segment's live run and what its first step needs; None when there is nothing to do.

    `others` are siblings that came with it: what they read is loaded too. `states` are those in
    which the run is of interest.
    """
    began = time.perf_counter()
    version = compiled(version_id)
    try:
        place, first = find(version.graph, segment)
        reads = reads_of(place, first)
        for other in others:
            reads += reads_of(*find(version.graph, other))
    except KeyError:
        return None  # a message of another time, or of nobody's making
    row = statements.fetch_one(
        "load",
        {
            "execution": execution_id,
            "segment": segment,
            "want_input": version.reads_input,
            "want_vars": bool(version.graph.variables),
            "reads": list(set(reads)) if others else reads,
        },
    )
    if row is None:
        return None
    found = _Loaded(*row)
    if found.execution_state != "RUNNING" or found.run_state not in states:
        return None
    prefix, inner = split(found.path)
    if prefix != place.prefix:  # a batch of a map's items, taken over in the middle
        place = place_of(version.graph, prefix)
    # Who put a run to sleep left nothing behind; anybody else may have known more than the rows.
    woken = bool(found.waits_for) and found.publications == 1
    step = place.graph.steps[place.graph.by_path[inner]]
    context = SegmentContext(
        execution_id=execution_id,
        version=version,
        epoch=found.epoch,
        priority=found.priority,
        queue=step.queue,
        started_at=found.started_at,
        input=found.input,
        trace_id=found.trace_id,
        principal_id=found.principal_id,
        links=links,
        header=header,
    )
    state = SegmentState(
        context,
        TemplateData(context, place, found.variables or {}),
        segment,
        resumed=not woken and (found.token > 0 or found.path != segment),
        received_at=began,
    )
    state.data.learn(found.results or [])
    live_run = LiveRun(
        found.run_id, step, found.attempt, found.budget, found.run_state, found.token,
        found.leased_by, found.crashes, found.suspect, found.overrides, found.details,
        bool(found.expired), found.waits_for, found.wake, found.inputs,
    )  # fmt: skip
    return state, live_run


class _Loaded(NamedTuple):
    """A row of `load.sql`, column by column."""

    execution_state: str
    epoch: int
    started_at: datetime | None
    principal_id: Any
    input: Any
    variables: dict[str, Any] | None
    run_id: UUID
    path: str
    attempt: int
    budget: int
    run_state: str
    token: int
    leased_by: str
    crashes: int
    suspect: bool
    overrides: Any
    details: Any
    priority: int
    expired: bool | None
    waits_for: str
    wake: Any
    inputs: Any
    publications: int
    trace_id: str
    results: list[Any] | None


def pack(state: SegmentState, others: deque[str]) -> Pack:
    """The siblings that came with a state's segment; those that wait untouched are seen.

    The worker leaves to others what it has not begun when its patience ends.
    """
    version = state.context.version
    until = time.monotonic() + _patience(version, (state.segment, *others))
    made = Pack(state.context.execution_id, version, others, until, state.context.priority)
    if state.resumed:
        return made  # this one was tried before: each of the others is looked at in its turn
    found = statements.fetch(
        "siblings",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "paths": list(others),
        },
    )
    for run_id, path, attempt, budget in found:
        _, step = find(state.context.version.graph, path)
        made.seen[path] = LiveRun(
            run_id, step, attempt, budget, RunState.PENDING, 0, "", 0,
            suspect=False, overrides=None, details=None, expired=False,
        )  # fmt: skip
    return made


def _patience(version: Compiled, segments: Sequence[str]) -> float:
    """How many seconds these segments may take: few where one begins with a step never timed."""
    steps = [find(version.graph, segment)[1] for segment in segments]
    effects = [step for step in steps if not step.inline]
    estimates.learn_durations(version.workflow_id, effects)
    timed = all(estimates.estimate_duration(step) is not None for step in effects)
    return config().pack_patience if timed else config().pack_trial


def claim(state: SegmentState, seen: LiveRun, inputs: Inputs | None = None) -> Work | None:
    """Claim the run; None when it is somebody else's, not due, or not wanted any more.

    Inputs and key are stored with the claim, before the step can have any effect. A run whose
    inputs cannot be made is claimed too, and fails. Threads that share a process do not claim a run
    that was lost with its holder: it is executed apart (`runners/isolation`). `inputs` are given
    where they were made before.
    """
    limits = config()
    holder_gone = seen.state == RunState.RUNNING and gone(seen.leased_by)
    if seen.state == RunState.RUNNING and not (seen.expired or holder_gone):
        return None
    death = judge(seen.leased_by) if seen.state == RunState.RUNNING else Death()
    crashes = seen.crashes + death.crashed
    prepared: Prepared | None = None
    failure: Failure | None
    if crashes >= limits.poison:
        failure = poisoned(state.path(seen.step), crashes, death.cause)
    else:
        activity.executes(seen.id, seen.token)  # its templates may stall the process too
        prepared, failure = inputs or _inputs(state, seen)
    me = process_identity()
    row = statements.fetch_one(
        "claim",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "run": seen.id,
            "token": seen.token,
            "holder": me,
            "holder_gone": holder_gone,
            "lease": limits.lease,
            "timeout": seen.step.timeout_seconds,
            "lost": death.lost,
            "crashed": death.crashed,
            "cause": death.cause,
            "suspect": death.suspect,
            "inputs": prepared.text if prepared else None,
            "inputs_hash": prepared.hash if prepared else "",
            "config_hash": seen.step.config_hash,
            "key": prepared.key if prepared else "",
        },
    )
    if row is None:
        return None
    activity.executes(seen.id, row[0])
    metrics.claimed(state.context.queue, row[1], state.received_at)
    state.received_at = 0.0
    if seen.state == RunState.RUNNING:
        metrics.RECOVERIES.labels("claim").inc()
    if seen.state == RunState.RUNNING:
        path = state.path(seen.step)
        tell_taken_over(seen.id, path, seen.leased_by, crashed=bool(death.crashed))
    state.carried = 1
    state.seconds = seen.step.timeout_seconds
    return Work(
        run_id=seen.id,
        token=row[0],
        holder=me,
        step=seen.step,
        prepared=prepared,
        failure=failure,
        attempt=seen.attempt,
        budget=seen.budget,
        overrides=seen.overrides,
        last_details=seen.details,
        path=state.path(seen.step),
        wake=None if seen.waits_for in HOLDS else seen.wake,
        held_seconds=_held_seconds(seen),
    )


def claim_following(state: SegmentState) -> Work | None:
    """Claim the next sibling that came with the state's message; None when there is none."""
    while state.pack is not None and (seen := state.pack.following()) is not None:
        state.turn_to(seen.step)
        work = claim(state, seen)
        if work is not None:
            return work
    return None


def _inputs(state: SegmentState, seen: LiveRun) -> tuple[Prepared | None, Failure | None]:
    """A woken run's inputs are those it began to wait with; others are rendered."""
    if seen.wake is not None:
        return restored(state.data, seen.step, seen.inputs, seen.overrides), None
    return attempt_prepare(state, seen.step, seen.attempt, seen.overrides)


def _held_seconds(seen: LiveRun) -> float:
    """How long the run was held back so far before its module ran."""
    return float((seen.wake or {}).get("waitedSeconds", 0)) if seen.waits_for in HOLDS else 0.0


def attempt_prepare(
    state: SegmentState, step: Step, attempt: int, overrides: Any = None
) -> tuple[Prepared | None, Failure | None]:
    """The step's inputs, or why they cannot be made."""
    try:
        return prepare(state.data, step, attempt, overrides), None
    except TemplateError as error:
        return None, template_failure(error, state.path(step))
    except PayloadError as error:
        return None, permanent(error.message, "PayloadError")
    except RecursionError as error:
        return None, classify(error)


def permanent(message: str, exception: str) -> Failure:
    """A failure that no retry will mend."""
    return Failure(ErrorType.PERMANENT, message, exception)


def poisoned(path: str, crashes: int, cause: str) -> Failure:
    """The failure of a step that ended its process again and again."""
    return permanent(
        f"Step {path} ended its worker process {crashes} times, so it is not tried again. The last "
        f"time, {cause or 'the process ended'}. Look for what ends the process: memory, a crash in "
        "a library, os._exit.",
        "WorkerLost",
    )


def give_back(work: Work) -> None:
    """Let go of a held run so that it is sent again at once; nothing is counted against it."""
    resend(release(work.run_id, work.token))
