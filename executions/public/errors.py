"""Errors that callers are told of."""

from executions.accounts.errors import (
    Taken,
)
from executions.errors import (
    Compensated,
    ConcurrencyConflict,
    InvalidDefinition,
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
    "Compensated",
    "ConcurrencyConflict",
    "InvalidDefinition",
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
