"""Start executions: from triggers, from code, as replays or as forks."""

from executions.triggers.from_code import (
    OtherTransaction,
    deadlock_told,
    start_from_code,
    start_many_from_code,
)
from executions.triggers.handle import ExecutionFailed, Handle
from executions.triggers.request import Branch
from executions.triggers.start import start_execution
from executions.triggers.stored_input import StoredInput, from_row, row_of

__all__ = [
    "Branch",
    "ExecutionFailed",
    "Handle",
    "OtherTransaction",
    "StoredInput",
    "deadlock_told",
    "from_row",
    "row_of",
    "start_execution",
    "start_from_code",
    "start_many_from_code",
]
