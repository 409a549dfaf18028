"""Spans of Celery's messages: make `segment.dispatch` and `execution.advance`, end `segment.run`.

A message's headers name its trace. This is only a hint: workers derive the trace from rows.
"""

import threading
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from celery.signals import (
    after_task_publish,
    before_task_publish,
    task_postrun,
    worker_process_init,
    worker_process_shutdown,
    worker_shutdown,
)
from opentelemetry.trace import SpanKind

from runners.public.events import segments_resent
from valkyr_plugins.telemetry import execution_spans, exporting, run_spans, spans

SEGMENT, ADVANCE = "runners.run_segment", "runners.advance"
_local = threading.local()


def over(**_: Any) -> None:
    """End the span of the segment when its Celery task ends."""
    run_spans.end_segment()


def resent(execution_ids: Sequence[UUID], **_: Any) -> None:
    """Load the trace IDs of executions whose segments will be sent again, in one query."""
    execution_spans.learn(execution_ids)


def sending(
    sender: str = "", body: Any = None, headers: Any = None, routing_key: str = "", **_: Any
) -> None:
    """Begin the span of an engine message before it is sent; name the span in the headers."""
    _sent(failed=True)  # ends a span that was begun for a message that was not sent
    if sender not in (SEGMENT, ADVANCE) or not isinstance(body, tuple):
        return
    args = body[0]
    execution_id = UUID(str(args[0]))
    trace_id = execution_spans.trace_of(execution_id)
    if not trace_id:
        return
    because = execution_spans.cause.get()
    of_this = because is not None and f"{because.trace_id:032x}" == trace_id
    span = spans.start(
        "segment.dispatch" if sender == SEGMENT else "execution.advance",
        execution_spans.root_of(execution_id, trace_id),
        {
            "messaging.system": "celery",
            "messaging.operation.type": "send",
            "messaging.destination.name": routing_key,
            "messaging.message.id": str(headers.get("id", "")),
            "execution.id": str(execution_id),
            "segment": str(args[2]) if sender == SEGMENT else None,
            "segment.siblings": len(args[3]) if len(args) > 3 else None,
        },
        kind=SpanKind.PRODUCER,
        links=[spans.link(because, "follows")] if because is not None and of_this else [],
    )
    headers["traceparent"] = spans.traceparent(span.get_span_context())
    _local.sending = span


def sent(**_: Any) -> None:
    """End the span of a message that the broker has accepted."""
    _sent(failed=False)


def _sent(*, failed: bool) -> None:
    span = _local.__dict__.pop("sending", None)
    if span is not None:
        if failed:
            span.set_attribute("error.type", "not_sent")
        span.end()


def make(**_: Any) -> None:
    """Make a provider in a worker's child, because threads do not survive a fork."""
    exporting.provider()


def stop(**_: Any) -> None:
    """Send the remaining spans when a worker's process ends."""
    exporting.stop()


def connect() -> None:
    """Connect to Celery's signals."""
    before_task_publish.connect(sending, weak=False)
    after_task_publish.connect(sent, weak=False)
    task_postrun.connect(over, weak=False)
    worker_process_init.connect(make, weak=False)
    worker_process_shutdown.connect(stop, weak=False)
    worker_shutdown.connect(stop, weak=False)
    segments_resent.connect(resent, dispatch_uid="telemetry.resent")
