"""Limit what starts beside the workspace's tier, and count what is used in hours and days."""

from executions.quotas.counting import (
    LENGTHS,
    Counter,
    Present,
    Window,
    count_use,
    present,
    start_of,
)
from executions.quotas.limits import Ceilings, Limit, of_tier, read_ceilings, tightest, windowed
from executions.states import QuotaWindow

__all__ = [
    "LENGTHS",
    "Ceilings",
    "Counter",
    "Limit",
    "Present",
    "QuotaWindow",
    "Window",
    "count_use",
    "of_tier",
    "present",
    "read_ceilings",
    "start_of",
    "tightest",
    "windowed",
]
