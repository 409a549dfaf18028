"""Query the database from asynchronous code, in a thread whose connection is closed afterwards."""

from collections.abc import Callable
from typing import TypeVar

from asgiref.sync import sync_to_async

from executions.database.routing import connection

Found = TypeVar("Found")


async def in_a_thread(look: Callable[[], Found]) -> Found:
    """Return the result of `look`, which runs in a thread of the event loop's pool.

    The thread's connection is closed afterwards, because no other code closes connections of the
    pool's threads.
    """

    def looked() -> Found:
        try:
            return look()
        finally:
            connection.close()

    return await sync_to_async(looked, thread_sensitive=False)()
