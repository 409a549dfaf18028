"""Spans whose place in a trace follows from rows, so that no process has to be asked for it.

A trace's id is on its execution; the span ids that others point to are digests of row ids. Whatever
process comes next, after a crash or a lost message too, names its parent from what it read.
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

# Whether the trace that a message or request came with is recorded: (trace id, flags).
_told: ContextVar[tuple[int, int] | None] = ContextVar("valkyr_told_flags", default=None)

MOST_MESSAGE = 2_000
MOST_TRACEBACK = 16_000


def span_id(*parts: object) -> int:
    """The span id that belongs to these facts: 64 bits of a SHA-256, never 0."""
    digest = sha256("/".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") or 1


def place(trace_id: str, span: int) -> SpanContext:
    """A span of some process, as a parent or the end of a link."""
    number = int(trace_id, 16)
    return SpanContext(number, span, is_remote=True, trace_flags=TraceFlags(_flags(number)))


def under(parent: SpanContext) -> Context:
    """The context in which spans get this parent."""
    return trace.set_span_in_context(NonRecordingSpan(parent), Context())


def believe(trace_id: int, flags: int) -> None:
    """Whoever called says whether this trace is recorded; other traces are not concerned."""
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
    """Begin a span, `at` nanoseconds since 1970 or now; end it with `end`.

    Without a parent it is the root of `trace_id`. `span` is its id where rows decide it.
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
    """The block in which spans that others make, and log lines, belong to this one."""
    token = context_api.attach(trace.set_span_in_context(span))
    try:
        yield
    finally:
        context_api.detach(token)


def fail(span: Span, kind: str, message: str, traceback: str = "") -> None:
    """Record an exception, its texts scrubbed already, and say that the span failed."""
    attributes = {"exception.type": kind, "exception.message": message[:MOST_MESSAGE]}
    if traceback:
        attributes["exception.stacktrace"] = traceback[-MOST_TRACEBACK:]
    span.add_event("exception", attributes)
    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR, message[:MOST_MESSAGE]))


def link(to: SpanContext, kind: str) -> Link:
    """A link that says what it means, as `retry_of` does."""
    return Link(to, {"link.kind": kind})


def traceparent(of: SpanContext) -> str:
    """As the W3C writes it in a header."""
    return f"00-{of.trace_id:032x}-{of.span_id:016x}-{of.trace_flags & TraceFlags.SAMPLED:02x}"


def now() -> int:
    """Nanoseconds since 1970."""
    return time.time_ns()


def _flags(trace_id: int) -> int:
    """Whether a trace is recorded: as its present span, as we were told, or as its id decides."""
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
    """Headers that name the present span, if there is one."""
    context = trace.get_current_span().get_span_context()
    return {"traceparent": traceparent(context)} if context.is_valid else {}
