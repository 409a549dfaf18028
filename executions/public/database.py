"""The database's clock, and locks that one process holds at a time."""

from executions.database.advisory_lock import alone
from executions.database.advisory_locks import AdvisoryLock
from executions.database.clock import ClockTimestamp, database_now

__all__ = [
    "AdvisoryLock",
    "ClockTimestamp",
    "alone",
    "database_now",
]
