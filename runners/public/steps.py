"""Run a module outside a workflow."""

from runners.segment.step_context import Context

__all__ = [
    "Context",
]
