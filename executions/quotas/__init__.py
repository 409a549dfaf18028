"""Hourly and daily limits on executions: those of the workspace's tier, and those of plugins.

Limited executions are counted in a row per window: an hour or a day in UTC, by the database's
clock. The row is updated in the transaction that starts the executions or, for starts in a caller's
transaction, after the commit. So a failed start is not counted, and no limit is exceeded.
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
