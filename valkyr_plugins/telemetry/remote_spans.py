"""What a remote runner is told of the trace, and the span of what it did, made from its report.

The span's id follows from the lease, so that the runner's own spans can be its children before it
exists.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from runners.public.models import Run
from runners.public.tracing import SegmentState, Unit, Work, trace_remote_run, traceparents
from valkyr_plugins.telemetry import execution_spans, spans
from valkyr_plugins.telemetry.run_spans import conclude, facts_of, run_span_id


def parents(runs: Sequence[Run]) -> dict[UUID, str]:
    """For runs that were just leased, by id: the parent of whatever their runner does."""
    execution_spans.learn([run.execution_id for run in runs])
    return {
        run.pk: spans.traceparent(spans.place(trace_id, run_span_id(run.pk, run.lease_token)))
        for run in runs
        if (trace_id := execution_spans.trace_of(run.execution_id))
    }


def tell(state: SegmentState, work: Work, unit: Unit, milliseconds: float) -> None:
    """`run.execute` of a remote run, once its report is committed."""
    transaction.on_commit(partial(_tell, state, work, unit, milliseconds), robust=True)


def _tell(state: SegmentState, work: Work, unit: Unit, milliseconds: float) -> None:
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


def connect() -> None:
    """Be asked for parents, and told of reports."""
    traceparents.provide(parents)
    trace_remote_run.provide(tell)
