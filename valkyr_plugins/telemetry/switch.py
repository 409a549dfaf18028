"""Whether spans are made at all; asked on the hot path, so decided once a process.

Nothing of OpenTelemetry is imported where this says no.
"""

import os
from functools import lru_cache

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@lru_cache(maxsize=1)
def on() -> bool:
    """Whether a collector is named and tracing is not switched off, by the standard's variables."""
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    nowhere = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    named = any(os.environ.get(name, "").strip() for name in ENDPOINTS)
    return named and not off and not nowhere
