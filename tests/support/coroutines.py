"""Coroutines called from tests in a thread that may already have a waiting event loop, such as a
browser's.
"""

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import async_to_sync

P = ParamSpec("P")
T = TypeVar("T")


def awaited(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return a function that returns when the coroutine of `function` has ended.

    Code that the coroutine runs in Django's sync thread runs in the test's own thread, in its
    transaction.
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
