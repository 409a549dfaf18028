"""The current span's IDs for log lines, and a filter for OpenTelemetry's warnings."""

import logging
import sys
import time

ABOUT = "opentelemetry"
SECONDS = 60.0


class Seldom(logging.Filter):
    """Limits OpenTelemetry's warnings to one per minute, and removes their tracebacks."""

    def __init__(self) -> None:
        """Create the filter; it lets the first warning pass."""
        super().__init__()
        self._said = float("-inf")

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to write the record; shorten a warning of OpenTelemetry."""
        if not record.name.startswith(ABOUT) or record.levelno < logging.WARNING:
            return True
        now = time.monotonic()
        if now - self._said < SECONDS:
            return False
        self._said = now
        record.exc_info = record.exc_text = None
        record.msg, record.args = f"spans are not exported: {record.getMessage()[:300]}", None
        return True


def ids() -> dict[str, object]:
    """Return the IDs of the current span and its trace; {} if there is no span."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    span = trace.get_current_span().get_span_context()
    if not span.is_valid:
        return {}
    return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
