"""Report conditions for notifications, and listen to the reports."""

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
