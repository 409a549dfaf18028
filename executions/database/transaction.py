"""Transactions on Valkyr's database, with the interface of `django.db.transaction`."""

from collections.abc import Callable
from functools import partial, update_wrapper, wraps
from types import TracebackType
from typing import Any, TypeVar, cast, overload

from django.db import transaction
from django.db.transaction import Atomic, TransactionManagementError

from executions.database.routing import alias, serving

__all__ = [
    "TransactionManagementError",
    "atomic",
    "on_commit",
    "prepare_with",
    "set_rollback",
    "unprepared",
]

F = TypeVar("F", bound=Callable[..., Any])


_before: list[Callable[[], None]] = []  # at most one function


def prepare_with(prepare: Callable[[], None]) -> None:
    """Register `prepare`, which runs before each block: its work must not run under locks."""
    _before[:] = [prepare]


def unprepared() -> Atomic:
    """Return a transaction block for `prepare` itself, which does not call `prepare` again."""
    return Atomic(alias(), savepoint=True, durable=False)


class OurAtomic(Atomic):
    """A transaction block on Valkyr's database.

    Its alias is read when the block begins, and stays the same until the block ends. So a block
    cannot be entered again before it ends; a decorated function gets a new block for each call.
    """

    using: str
    durable: bool

    def __init__(self, savepoint: bool = True, durable: bool = False) -> None:
        super().__init__("", savepoint, durable)

    def __enter__(self) -> None:
        self.using = alias()
        for prepare in _before:
            prepare()
        super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if alias() == self.using:
            super().__exit__(kind, error, trace)
            return
        with serving(self.using):  # `on_commit` functions use this database, too
            super().__exit__(kind, error, trace)

    def __call__(self, function: F) -> F:
        """Return the function, which runs in a new block at each call."""

        @wraps(function)
        def inner(*given: Any, **named: Any) -> Any:
            with OurAtomic(self.savepoint, self.durable):
                return function(*given, **named)

        return cast("F", inner)


@overload
def atomic(function: F) -> F: ...
@overload
def atomic(*, savepoint: bool = True, durable: bool = False) -> OurAtomic: ...
def atomic(function: Any = None, *, savepoint: bool = True, durable: bool = False) -> Any:
    """Return a transaction block, or a savepoint within another block; it is also a decorator."""
    block = OurAtomic(savepoint, durable)
    return block if function is None else block(function)


def on_commit(function: Callable[[], Any], robust: bool = False) -> None:
    """Call the function when the transaction commits, or at once if none is open.

    An error in a `robust` function is logged; the functions after it still run.
    """
    if isinstance(function, partial):
        # Django logs the name of a failed function, and raises an error if the function has none.
        update_wrapper(function, function.func, ("__qualname__",), ())
    transaction.on_commit(function, using=alias(), robust=robust)


def set_rollback(rollback: bool) -> None:
    """Set whether the innermost block is rolled back when it ends."""
    transaction.set_rollback(rollback, using=alias())
