"""Sign requests to webhooks."""

from executions.triggers import signature

__all__ = [
    "signature",
]
