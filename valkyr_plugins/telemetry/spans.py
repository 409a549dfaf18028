"""Spans whose position in a trace is derived from rows, without asking another process.

A trace's ID is stored with its execution; the span IDs that others refer to are digests of row IDs.
A later process, even after a crash or a lost message, derives the parents of its spans from rows.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256

from opentelemetry import context as context_api
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
)

from valkyr_plugins.telemetry import exporting

Value = str | int | float | bool
Attributes = Mapping[str, Value | None]

# The trace ID and flags of the message or request; the flags say whether the trace is recorded.
_told: ContextVar[tuple[int, int] | None] = ContextVar("valkyr_told_flags", default=None)

MOST_MESSAGE = 2_000
MOST_TRACEBACK = 16_000


def span_id(*parts: object) -> int:
    """Return the span ID for these facts: 64 bits of a SHA-256, never 0."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") or 1


def place(trace_id: str, span: int) -> SpanContext:
    """Return the context of a span, as a parent or the target of a link."""
    number = int(trace_id, 16)
    return SpanContext(number, span, is_remote=True, trace_flags=TraceFlags(_flags(number)))


def under(parent: SpanContext) -> Context:
    """Return a context in which new spans get this parent."""
    return trace.set_span_in_context(NonRecordingSpan(parent), Context())


def believe(trace_id: int, flags: int) -> None:
    """Store whether the caller records this trace; this does not affect other traces."""
    _told.set((trace_id, flags))


def start(
    name: str,
    parent: SpanContext | None,
    attributes: Attributes,
    *,
    trace_id: str = "",
    span: int | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    links: Sequence[Link] = (),
    at: int | None = None,
) -> Span:
    """Begin a span, now or at `at` nanoseconds since 1970; the caller ends it with `end`.

    Without a parent, the span is the root of `trace_id`. `span` is the ID if rows determine it.
    """
    fixed = exporting.fixed_span.set(span)
    fixed_trace = exporting.fixed_trace.set(int(trace_id, 16) if trace_id else None)
    try:
        return exporting.tracer().start_span(
            name,
            Context() if parent is None else under(parent),
            kind,
            {key: value for key, value in attributes.items() if value is not None},
            links,
            at,
        )
    finally:
        exporting.fixed_trace.reset(fixed_trace)
        exporting.fixed_span.reset(fixed)


@contextmanager
def current(span: Span) -> Iterator[None]:
    """Make this the current span, for other code's spans and log lines, while the block runs."""
    token = context_api.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        context_api.detach(token)


def fail(span: Span, kind: str, message: str, traceback: str = "") -> None:
    """Record an exception, with texts that the caller has scrubbed; mark the span as failed."""
    attributes = {"exception.type": kind, "exception.message": message[:MOST_MESSAGE]}
    if traceback:
        attributes["exception.stacktrace"] = traceback[-MOST_TRACEBACK:]
    span.add_event("exception", attributes)
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, message[:MOST_MESSAGE]))


def link(to: SpanContext, kind: str) -> Link:
    """Return a link to a span, with the meaning of the link, such as `retry_of`."""
    return Link(to, {"link.kind": kind})


def traceparent(of: SpanContext) -> str:
    """Return the value of the W3C header `traceparent`."""
    return f"00-{of.trace_id:032x}-{of.span_id:016x}-{of.trace_flags & TraceFlags.SAMPLED:02x}"


def now() -> int:
    """Return the current time in nanoseconds since 1970."""
    return time.time_ns()


def _flags(trace_id: int) -> int:
    """Return the trace flags: from the current span, the caller's decision, or the trace's ID."""
    present = trace.get_current_span().get_span_context()
    if present.trace_id == trace_id:
        return int(present.trace_flags)
    told = _told.get()
    if told is not None and told[0] == trace_id:
        return told[1]
    sampler = exporting.provider().sampler
    decided = sampler.should_sample(Context(), trace_id, "execution").decision
    return int(TraceFlags.SAMPLED if decided is Decision.RECORD_AND_SAMPLE else TraceFlags.DEFAULT)


def present() -> dict[str, str]:
    """Return headers that name the current span; {} if there is none."""
    context = trace.get_current_span().get_span_context()
    return {"traceparent": traceparent(context)} if context.is_valid else {}
