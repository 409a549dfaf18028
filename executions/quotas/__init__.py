"""Hourly and daily limits on executions: of a workspace by its tier, and those that plugins add.

What is counted is a row for each window of the database's clock in UTC, in the transaction that
starts: a start that fails counts nothing, and no limit is ever exceeded. Only what is limited is
counted.
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
