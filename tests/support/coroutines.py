"""Coroutines called from tests, whose thread may have a loop that waits: a browser's."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import async_to_sync

P = ParamSpec("P")
T = TypeVar("T")


def awaited(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """The same function, which returns once its coroutine has ended.

    What the coroutine does in Django's sync thread is done in the test's own, in its transaction.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        waiting = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        try:
            return async_to_sync(function)(*args, **kwargs)
        finally:
            asyncio._set_running_loop(waiting)

    return call
