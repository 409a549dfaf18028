"""Pass the trace on to other systems."""

from executions.observability.propagation import outgoing

__all__ = [
    "outgoing",
]
