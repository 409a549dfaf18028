"""Sign what is sent to webhooks."""

from executions.triggers import signature

__all__ = [
    "signature",
]
