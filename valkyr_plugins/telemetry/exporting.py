"""Set up OpenTelemetry's SDK in this process: at the first span, and again after a fork.

The batch processor's thread does not survive a fork, so each child makes its own provider. Spans
wait in a bounded queue; if the collector cannot be reached, they are dropped. This module cannot be
called `provider`, because django-allauth imports the module `provider` of every app.
"""

import atexit
import os
import threading
from contextvars import ContextVar

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Tracer

from executions.public import environment as env

# OpenTelemetry's default of 5 s would lose the last spans of a process.
DELAY_MILLISECONDS = 1_000
# Maximum delay of a process's end by unsent spans.
FLUSH_SECONDS = 2.0

# The IDs of the next span, if they are derived from rows.
fixed_trace: ContextVar[int | None] = ContextVar("valkyr_fixed_trace", default=None)
fixed_span: ContextVar[int | None] = ContextVar("valkyr_fixed_span", default=None)

_lock = threading.Lock()
_provider: TracerProvider | None = None


class RowIds(RandomIdGenerator):
    """Makes random IDs, except for spans whose ID is derived from a row (see `spans`)."""

    def generate_trace_id(self) -> int:
        """Return the trace ID that a row determines, or a random ID."""
        return fixed_trace.get() or super().generate_trace_id()

    def generate_span_id(self) -> int:
        """Return the span ID that a row determines, or a random ID."""
        return fixed_span.get() or super().generate_span_id()


def provider() -> TracerProvider:
    """Return this process's tracer provider; spans that modules create use this provider too."""
    global _provider  # noqa: PLW0603 - one a process
    with _lock:
        if _provider is None:
            _provider = _make()
            trace.set_tracer_provider(_provider)
        return _provider


def tracer() -> Tracer:
    """Return the tracer of the engine's spans."""
    return provider().get_tracer("valkyr")


def stop(seconds: float = FLUSH_SECONDS) -> None:
    """Send the remaining spans, for at most `seconds`; later spans are not sent."""
    if _provider is None:
        return
    sending = threading.Thread(target=_provider.shutdown, name="valkyr-last-spans", daemon=True)
    sending.start()
    sending.join(seconds)


def _make() -> TracerProvider:
    made = TracerProvider(resource=_resource(), id_generator=RowIds(), shutdown_on_exit=False)
    delay = env.number("OTEL_BSP_SCHEDULE_DELAY", DELAY_MILLISECONDS)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(), schedule_delay_millis=delay))
    return made


def _resource() -> Resource:
    """Return the process's resource; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override it."""
    process = env.text("VALKYR_PROCESS", "tool")
    ours = Resource.create(
        {
            "service.name": "valkyr",
            "service.instance.id": f"{process}@{os.uname().nodename}#{os.getpid()}",
            "process.pid": os.getpid(),
            "valkyr.process": process,
        }
    )
    return ours.merge(OTELResourceDetector().detect())


def _forget() -> None:
    """Forget the provider in a forked child, because the provider's thread is missing there."""
    global _provider, _lock
    _provider, _lock = None, threading.Lock()


def connect() -> None:
    """Handle this process's forks, and send the remaining spans at its end."""
    os.register_at_fork(after_in_child=_forget)
    atexit.register(stop)
