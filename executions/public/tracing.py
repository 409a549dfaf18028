"""Pass the trace context to other systems, and register a provider of spans."""

from executions.observability.log_context import MORE_IDS
from executions.observability.trace_context import Incoming, incoming, outgoing, parent_of
from executions.ports import trace_headers

__all__ = [
    "MORE_IDS",
    "Incoming",
    "incoming",
    "outgoing",
    "parent_of",
    "trace_headers",
]
