"""Hourly and daily limits on executions: limits of the workspace's tier, and of plugins.

There is a counter row for each window of the database's clock in UTC, updated in the transaction
that starts the executions: a failed start is not counted, and no limit is ever exceeded. Only
limited resources are counted.
"""

from executions.quotas.counting import check, count, prune, room
from executions.quotas.limits import Ceilings, Limit, ceilings

__all__ = [
    "Ceilings",
    "Limit",
    "ceilings",
    "check",
    "count",
    "prune",
    "room",
]
