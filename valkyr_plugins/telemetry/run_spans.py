"""The spans of runs: `segment.run` for a worker's segment, `run.execute` for each run.

Parents are derived from rows, so a trace stays connected if a message is lost. The parent of
`segment.run` is the sender's span if the message names this trace and segment; otherwise, it is
`execution.start`.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from celery import current_task
from opentelemetry.trace import Link, Span, SpanContext, SpanKind

from executions.public.database import transaction
from executions.public.definitions import Step
from executions.public.tracing import parent_of
from runners.public.models import Run
from runners.public.tracing import (
    Done,
    Perform,
    SegmentState,
    Unit,
    Work,
    trace_remote_run,
    trace_run,
    traceparents,
)
from valkyr_plugins.telemetry import execution_spans, spans


@dataclass(slots=True)
class Carried:
    """The segment that this worker is running, and its span."""

    state: SegmentState
    span: Span


_carried: ContextVar[Carried | None] = ContextVar("valkyr_carried", default=None)


def traced(perform: Perform, state: SegmentState, work: Work) -> Unit:
    """Execute a claimed run in a span, and make spans for the pure steps that it included."""
    execution_spans.know(state.context.execution_id, state.context.trace_id)
    segment = _segment_of(state)
    began = spans.now()
    span = spans.start(
        "run.execute",
        segment.span.get_span_context(),
        {
            **facts_of(state, work.step, work.path, work.attempt),
            "run.id": str(work.run_id),
            "run.lease_token": work.token,
        },
        span=run_span_id(work.run_id, work.token),
        links=_links(state, work),
        at=began,
    )
    execution_spans.cause.set(span.get_span_context())
    try:
        with spans.current(span):
            unit = perform(state, work)
        conclude(span, unit)
    finally:
        span.end()
    for done in unit.more:
        _tell(state, segment.span, done)
    return unit


def facts_of(state: SegmentState, step: Step, path: str, attempt: int) -> dict[str, str | int]:
    """Return a span's attributes for a step: its IDs and names, but no part of its payload."""
    version = state.context.version
    return {
        "execution.id": str(state.context.execution_id),
        "task.id": str(step.task_uuid),
        "attempt": attempt,
        "step.path": path,
        "module": step.module,
        "queue": step.queue,
        "workflow.id": str(version.workflow_id),
        "workflow.name": version.graph.name,
        "workflow.version": version.number,
        "workspace.id": str(version.workspace_id),
    }


def run_span_id(run_id: UUID, token: int) -> int:
    """Return the span ID of one holder's work on a run."""
    return spans.span_id("run.execute", run_id, token)


def end_segment() -> None:
    """End the span of the segment that the worker has finished."""
    carried = _carried.get()
    if carried is not None:
        carried.span.end()
        _carried.set(None)
    execution_spans.cause.set(None)


def _segment_of(state: SegmentState) -> Carried:
    """Return the segment with its open span; if it is new, end the span of the previous one."""
    carried = _carried.get()
    if carried is not None and carried.state is state:
        return carried
    end_segment()
    request = getattr(current_task, "request", None)  # there is none outside of a task
    # These names follow OpenTelemetry's semantic conventions for messaging, as far as those exist.
    facts: dict[str, Any] = {
        "messaging.system": "celery",
        "messaging.operation.type": "process",
        "messaging.destination.name": state.context.queue,
        "messaging.message.id": getattr(request, "id", None),
        "execution.id": str(state.context.execution_id),
        "segment": state.segment,
        "segment.resumed": state.resumed,
        "workflow.name": state.context.version.graph.name,
    }
    parent, kind = _sender(state, request), SpanKind.CONSUMER
    made = Carried(state, spans.start("segment.run", parent, facts, kind=kind))
    _carried.set(made)
    return made


def _sender(state: SegmentState, request: Any) -> SpanContext:
    """Return `execution.start`, or the sender's span if its message has this trace and segment."""
    told = parent_of(str(request.get("traceparent") or "")) if request is not None else None
    if told is not None and told.trace_id == state.context.trace_id:
        spans.believe(int(told.trace_id, 16), told.flags)
        if state.segment in _segments(request.args):
            return spans.place(told.trace_id, told.span_id)
    return execution_spans.root_of(state.context.execution_id, state.context.trace_id)


def _segments(args: Any) -> set[str]:
    """Return the segments that a message names: one, and any siblings in the same message."""
    first, others = [*(args or ())[2:4], None, None][:2]
    return {first, *(others or ())}


def _links(state: SegmentState, work: Work) -> list[Link]:
    """Return a link to the run's previous holder or, if none, to the previous attempt; or []."""
    if work.token > 1:
        return [_link(state, work.run_id, work.token - 1, "resumed_from")]
    if work.attempt == 1:
        return []
    before = (
        Run.objects.filter(
            execution_id=state.context.execution_id,
            state__in=("FAILED", "DLQ", "CANCELLED"),
            epoch=state.context.epoch,
            step_path=work.path,
            attempt=work.attempt - 1,
        )
        .values_list("pk", "lease_token")
        .first()
    )
    return [] if before is None else [_link(state, *before, "retry_of")]


def _link(state: SegmentState, run_id: UUID, token: int, kind: str) -> Link:
    return spans.link(spans.place(state.context.trace_id, run_span_id(run_id, token)), kind)


def conclude(span: Span, unit: Unit) -> None:
    """Record the run's result on its span; the caller ends the span."""
    failure = unit.failure
    if failure is not None:
        span.set_attribute("run.error_type", failure.error_type.value)
        spans.fail(span, failure.exception, failure.message, failure.traceback)
    elif unit.wait is not None:
        span.set_attribute("run.waits_for", unit.wait.kind.value)
    elif unit.head is not None:
        span.set_attribute("run.outcome", unit.head.result.outcome)
        if unit.head.cached_from is not None:
            span.set_attribute("run.cached_from", str(unit.head.cached_from))


def _tell(state: SegmentState, segment: Span, done: Done) -> None:
    """Make the span of a pure step that has ended in memory; derive its start from its duration."""
    assert done.run_id is not None, "a run in memory has an ID"
    now = spans.now()
    path = done.place.prefix + done.step.path
    span = spans.start(
        "run.execute",
        segment.get_span_context(),
        {
            **facts_of(state, done.step, path, 1),
            "run.id": str(done.run_id),
            "run.outcome": done.result.outcome,
            "run.in_memory": True,
        },
        span=run_span_id(done.run_id, 0),
        at=now - int(done.milliseconds * 1e6),
    )
    span.end(now)


def connect() -> None:
    """Trace the runs that workers execute."""
    trace_run.provide(traced)


# Pass the trace to a remote runner, and make the span of its work from its report.
#
# The span's ID is derived from the lease, so that the runner's own spans can refer to it as their
# parent before it exists.


def parents(runs: Sequence[Run]) -> dict[UUID, str]:
    """Return the `traceparent` of each leased run, keyed by run ID, for remote runners' spans."""
    execution_spans.learn([run.execution_id for run in runs])
    return {
        run.pk: spans.traceparent(spans.place(trace_id, run_span_id(run.pk, run.lease_token)))
        for run in runs
        if (trace_id := execution_spans.trace_of(run.execution_id))
    }


def tell_remote(state: SegmentState, work: Work, unit: Unit, milliseconds: float) -> None:
    """Make the span `run.execute` of a remote run, once its report is committed."""
    transaction.on_commit(partial(_tell_remote, state, work, unit, milliseconds), robust=True)


def _tell_remote(state: SegmentState, work: Work, unit: Unit, milliseconds: float) -> None:
    trace_id, now = execution_spans.trace_of(state.context.execution_id), spans.now()
    facts: dict[str, Any] = {
        **facts_of(state, work.step, work.path, work.attempt),
        "run.id": str(work.run_id),
        "run.remote": True,
    }
    span = spans.start(
        "run.execute",
        execution_spans.root_of(state.context.execution_id, trace_id),
        facts,
        span=run_span_id(work.run_id, work.token),
        at=now - int(milliseconds * 1e6),
    )
    conclude(span, unit)
    span.end(now)


def connect_remote() -> None:
    """Provide parent spans for leased runs, and make spans from runners' reports."""
    traceparents.provide(parents)
    trace_remote_run.provide(tell_remote)
