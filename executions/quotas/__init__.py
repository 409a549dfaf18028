"""Hourly and daily limits on executions: those of the workspace's tier, and those of plugins.

There is a counter row for each window of the database's clock in UTC. It is updated in the
transaction that starts the executions or, for starts in a caller's transaction, after the commit: a
failed start is not counted, and no limit is exceeded. Only limited resources are counted.
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
