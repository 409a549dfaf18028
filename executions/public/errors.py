"""Errors that callers receive."""

from executions.accounts.errors import (
    Taken,
)
from executions.errors import (
    Compensated,
    ConcurrencyConflict,
    Deadlocked,
    InvalidDefinition,
    InvalidPayload,
    KeyReused,
    NotFound,
    NotPublished,
    PayloadError,
    QuotaExceeded,
    ValkyrError,
    WithProblems,
    WrongState,
)

__all__ = [
    "Compensated",
    "ConcurrencyConflict",
    "Deadlocked",
    "InvalidDefinition",
    "InvalidPayload",
    "KeyReused",
    "NotFound",
    "NotPublished",
    "PayloadError",
    "QuotaExceeded",
    "Taken",
    "ValkyrError",
    "WithProblems",
    "WrongState",
]
