"""The spans of an execution's start, admission and end, and a cache of executions' trace IDs.

A child execution has a separate trace, with a link to the parent's run that started it.
"""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any
from uuid import UUID

from opentelemetry import trace
from opentelemetry.trace import Span, SpanContext

from executions.public.database import transaction
from executions.public.events import execution_admitted, execution_ended, executions_started
from executions.public.models import Workflow, WorkflowExecution
from executions.public.sealing import is_sealed
from executions.public.tracing import trace_headers
from valkyr_plugins.telemetry import spans

# The run or other cause of a start. The spans of the started execution link to it.
cause: ContextVar[SpanContext | None] = ContextVar("valkyr_cause", default=None)

KEPT = 10_000
_known: OrderedDict[UUID, str] = OrderedDict()


def tell_start(
    sender: Any,
    executions: Sequence[WorkflowExecution],
    workflow: Workflow,
    number: int,
    **_: Any,
) -> None:
    """Make each execution's span `execution.start`, below the current span if both share a trace.

    `execution.start` is the parent of the execution's spans that have no closer parent.
    """
    at = spans.now()
    for execution in executions:
        know(execution.pk, execution.trace_id)
        facts = {
            "execution.id": str(execution.pk),
            "workflow.id": str(workflow.pk),
            "workflow.name": workflow.name,
            "workflow.version": number,
            "workspace.id": str(workflow.workspace_id),
            "trigger.type": execution.trigger_type,
            "execution.priority": execution.priority,
        }
        transaction.on_commit(partial(_tell_start, execution, facts, cause.get(), at), robust=True)


def _tell_start(
    execution: WorkflowExecution, facts: dict[str, Any], because: SpanContext | None, at: int
) -> None:
    present = trace.get_current_span().get_span_context()
    inside = present.is_valid and f"{present.trace_id:032x}" == execution.trace_id
    kind = "child_of" if execution.parent_id else "caused_by"
    spans.start(
        "execution.start",
        present if inside else None,
        facts,
        trace_id=execution.trace_id,
        span=_start_id(execution.pk),
        links=[] if because is None or inside else [spans.link(because, kind)],
        at=at,
    ).end()


def root_of(execution_id: UUID, trace_id: str) -> SpanContext:
    """Return the span `execution.start` as a parent, for spans without a closer parent."""
    return spans.place(trace_id, _start_id(execution_id))


def know(execution_id: UUID, trace_id: str) -> None:
    """Cache an execution's trace ID, so that its messages can name the trace without a query."""
    _known[execution_id] = trace_id
    while len(_known) > KEPT:
        _known.popitem(last=False)


def learn(execution_ids: Collection[UUID]) -> None:
    """Cache the trace IDs of these executions; one query loads those that are missing."""
    unknown = [pk for pk in set(execution_ids) if pk not in _known]
    if unknown:
        rows = WorkflowExecution.objects.filter(pk__in=unknown).values_list("pk", "trace_id")
        for pk, trace_id in rows:
            know(pk, trace_id)


def trace_of(execution_id: UUID) -> str:
    """Return the execution's trace ID; "" if there is no such execution."""
    learn([execution_id])
    return _known.get(execution_id, "")


def tell_admission(sender: Any, executions: Sequence[Any], **_: Any) -> None:
    """Make the spans `execution.admit`; the span of a new execution begins at its creation."""
    learn([item.execution_id for item in executions])
    for item in executions:
        transaction.on_commit(partial(_tell_admission, item.execution_id, item.fresh), robust=True)


def _tell_admission(execution_id: UUID, fresh: bool) -> None:
    trace_id, now = trace_of(execution_id), spans.now()
    if not trace_id:
        return
    # The first bits of a UUIDv7 are the milliseconds since 1970.
    asked = min(now, (execution_id.int >> 80) * 1_000_000) if fresh else now
    facts = {
        "execution.id": str(execution_id),
        "execution.reopened": not fresh,
        "execution.waited_seconds": (now - asked) / 1e9,
    }
    _of(execution_id, trace_id, "execution.admit", facts, at=asked).end(now)


def tell_end(sender: Any, execution_id: UUID, state: str, **_: Any) -> None:
    """Make the span `execution.run` of an ended execution: from its start to its end."""
    row = (
        WorkflowExecution.objects.filter(pk=execution_id)
        .values_list("trace_id", "started_at", "workflow_id", "workspace_id", "error_message")
        .first()
    )
    if row is None or not row[0]:
        return
    trace_id, began, workflow_id, workspace_id, message = row
    facts = {
        "execution.id": str(execution_id),
        "execution.state": state,
        "workflow.id": str(workflow_id),
        "workspace.id": str(workspace_id),
    }
    now = spans.now()
    at = min(now, int(began.timestamp() * 1e9)) if began else now
    span = _of(execution_id, trace_id, "execution.run", facts, at=at)
    if state in ("FAILED", "TIMEOUT"):
        # A trace leaves the installation, so the message of a sealed workspace is omitted.
        spans.fail(span, f"Execution{state.title()}", "" if is_sealed(message) else message)
    span.end(now)


def _of(execution_id: UUID, trace_id: str, name: str, facts: dict[str, Any], *, at: int) -> Span:
    return spans.start(name, root_of(execution_id, trace_id), facts, at=at)


def _start_id(execution_id: UUID) -> int:
    return spans.span_id("execution.start", execution_id)


def connect() -> None:
    """Connect to the signals of executions, and provide the current span to other apps."""
    trace_headers.provide(spans.present)
    executions_started.connect(tell_start, dispatch_uid="telemetry.start")
    execution_admitted.connect(tell_admission, dispatch_uid="telemetry.admit")
    execution_ended.connect(tell_end, dispatch_uid="telemetry.end")
