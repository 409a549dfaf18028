"""Transactions on the database of our tables; names and arguments as in `django.db.transaction`."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

from django.db import transaction
from django.db.transaction import Atomic, TransactionManagementError

from executions.database.routing import alias

__all__ = ["TransactionManagementError", "atomic", "on_commit", "set_rollback"]

F = TypeVar("F", bound=Callable[..., Any])


class OurAtomic(Atomic):
    """A block on our database; which one that is, is asked when it begins."""

    def __init__(self, savepoint: bool = True, durable: bool = False) -> None:
        super().__init__("", savepoint, durable)

    @property
    def using(self) -> str:
        """Our alias."""
        return alias()

    @using.setter
    def using(self, value: str) -> None:
        """Django's initialiser sets it; the alias stays ours."""


@overload
def atomic(function: F) -> F: ...
@overload
def atomic(*, savepoint: bool = True, durable: bool = False) -> OurAtomic: ...
def atomic(function: Any = None, *, savepoint: bool = True, durable: bool = False) -> Any:
    """A transaction, or a savepoint within one; a decorator with or without parentheses."""
    block = OurAtomic(savepoint, durable)
    return block if function is None else block(function)


def on_commit(function: Callable[[], Any], robust: bool = False) -> None:
    """Call when the transaction is committed, or at once where none is open."""
    transaction.on_commit(function, using=alias(), robust=robust)


def set_rollback(rollback: bool) -> None:
    """Let the innermost block be rolled back."""
    transaction.set_rollback(rollback, using=alias())
