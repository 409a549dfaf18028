"""Errors that callers are told of."""

from executions.accounts.errors import (
    Taken,
)
from executions.errors import (
    ConcurrencyConflict,
    InvalidPayload,
    NotFound,
    NotPublished,
    PayloadError,
    QuotaExceeded,
    ValkyrError,
    WithProblems,
    WrongState,
)

__all__ = [
    "ConcurrencyConflict",
    "InvalidPayload",
    "NotFound",
    "NotPublished",
    "PayloadError",
    "QuotaExceeded",
    "Taken",
    "ValkyrError",
    "WithProblems",
    "WrongState",
]
