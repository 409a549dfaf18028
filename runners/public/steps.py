"""Run a module outside of a workflow."""

from runners.segment.step_context import Context

__all__ = [
    "Context",
]
