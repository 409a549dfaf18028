"""Limit starts in addition to the workspace's tier, and count use per hour and day."""

from executions.quotas.counting import (
    LENGTHS,
    Counter,
    Present,
    Window,
    count_use,
    present,
    start_of,
)
from executions.quotas.limits import (
    Ceilings,
    CeilingsQuery,
    Limit,
    ceilings_query,
    of_tier,
    tightest,
    windowed,
)
from executions.states import QuotaWindow

__all__ = [
    "LENGTHS",
    "Ceilings",
    "CeilingsQuery",
    "Counter",
    "Limit",
    "Present",
    "QuotaWindow",
    "Window",
    "ceilings_query",
    "count_use",
    "of_tier",
    "present",
    "start_of",
    "tightest",
    "windowed",
]
