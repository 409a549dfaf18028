"""Create spans for the steps of workers and remote runners."""

from runners.observability.tracing import Perform
from runners.ports import trace_remote_run, trace_run, traceparents
from runners.segment.state import SegmentState
from runners.segment.work import Done, Unit, Work

__all__ = [
    "Done",
    "Perform",
    "SegmentState",
    "Unit",
    "Work",
    "trace_remote_run",
    "trace_run",
    "traceparents",
]
