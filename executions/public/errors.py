"""Errors that callers are told of."""

from executions.accounts.errors import Taken
from executions.errors import NotFound, PayloadError, ValkyrError, WithProblems, WrongState

__all__ = [
    "NotFound",
    "PayloadError",
    "Taken",
    "ValkyrError",
    "WithProblems",
    "WrongState",
]
