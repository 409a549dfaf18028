"""Report conditions that people may be told of, and listen to reports."""

from executions.events import (
    LASTING,
    Lasting,
    ReportedCondition,
    condition_began,
)

__all__ = [
    "LASTING",
    "Lasting",
    "ReportedCondition",
    "condition_began",
]
