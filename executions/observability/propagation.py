"""The present span, for whoever is called from here."""

from executions.telemetry import switch


def outgoing() -> dict[str, str]:
    """Headers that name the present span (W3C Trace Context); none where no spans are made."""
    if not switch.on():
        return {}
    from opentelemetry import trace

    from executions.telemetry import spans

    present = trace.get_current_span().get_span_context()
    return {"traceparent": spans.traceparent(present)} if present.is_valid else {}
