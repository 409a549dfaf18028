"""Decide once per process whether spans are made, because the hot path needs the answer.

If no spans are made, OpenTelemetry is not imported.
"""

import os
from functools import lru_cache

ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@lru_cache(maxsize=1)
def on() -> bool:
    """Return whether OpenTelemetry's variables name a collector and do not disable tracing."""
    off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    nowhere = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() == "none"
    named = any(os.environ.get(name, "").strip() for name in ENDPOINTS)
    return named and not off and not nowhere
