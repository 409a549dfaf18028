"""Celery's messages and tasks: `segment.dispatch` where one is sent, ids on lines where one is run.

A message says in its headers what trace it belongs to. That is a hint, as all of it is.
"""

import threading
from contextvars import Token
from typing import Any
from uuid import UUID

from celery.signals import (
    after_task_publish,
    before_task_publish,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutdown,
)

from executions.observability import log_context
from executions.telemetry import switch

SEGMENT, ADVANCE = "runners.run_segment", "runners.advance"
_local = threading.local()


def begin(sender: Any = None, task_id: str = "", args: Any = (), **_: Any) -> None:
    """A task starts: its lines say which one it is."""
    name = getattr(sender, "name", "")
    more = {"execution_id": args[0]} if args and name in (SEGMENT, ADVANCE) else {}
    _tokens().append(log_context.set_all({"task": name, "task_message": task_id, **more}))


def over(**_: Any) -> None:
    """The task is done: nothing of it clings to the next one in this thread."""
    if switch.on():
        from runners.observability import run_spans

        run_spans.end_segment()
    if tokens := _tokens():
        log_context.reset(tokens.pop())


def _tokens() -> list[Token[Any]]:
    found: list[Token[Any]] = _local.__dict__.setdefault("tokens", [])
    return found


def sending(
    sender: str = "", body: Any = None, headers: Any = None, routing_key: str = "", **_: Any
) -> None:
    """A message is about to be sent: begin its span and tell the receiver of it."""
    _sent(failed=True)  # one that was begun and never sent
    if sender not in (SEGMENT, ADVANCE) or not isinstance(body, tuple):
        return
    from opentelemetry.trace import SpanKind

    from executions.observability import tracing
    from executions.telemetry import spans

    args = body[0]
    execution_id = UUID(str(args[0]))
    trace_id = tracing.trace_of(execution_id)
    if not trace_id:
        return
    because = tracing.cause.get()
    of_this = because is not None and f"{because.trace_id:032x}" == trace_id
    span = spans.start(
        "segment.dispatch" if sender == SEGMENT else "execution.advance",
        tracing.root_of(execution_id, trace_id),
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
    """The broker has it."""
    _sent(failed=False)


def _sent(*, failed: bool) -> None:
    span = _local.__dict__.pop("sending", None)
    if span is not None:
        if failed:
            span.set_attribute("error.type", "not_sent")
        span.end()


def load(**_: Any) -> None:
    """Import the SDK before a worker forks, so that its children share the memory."""
    from executions.telemetry import provider  # noqa: F401 - that is all


def make(**_: Any) -> None:
    """A worker's child exports for itself: threads do not survive a fork."""
    from executions.telemetry import provider

    provider.provider()


def stop(**_: Any) -> None:
    """A process of a worker ends: send what it still has."""
    from executions.telemetry import provider

    provider.stop()


def connect() -> None:
    """Listen to Celery."""
    task_prerun.connect(begin, weak=False)
    task_postrun.connect(over, weak=False)
    if switch.on():
        before_task_publish.connect(sending, weak=False)
        after_task_publish.connect(sent, weak=False)
        worker_init.connect(load, weak=False)
        worker_process_init.connect(make, weak=False)
        worker_process_shutdown.connect(stop, weak=False)
        worker_shutdown.connect(stop, weak=False)
