"""Rows as a file of JSON lines, written while it is read: memory is bounded, no query held open.

Each batch is a query of its own that begins after the last row of the one before.
"""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections, connection
from django.http import HttpRequest, StreamingHttpResponse

LINES = "application/x-ndjson"
# Gives the rows after the one of an id (None: the first), as bytes, and the id of the last; None
# where there are no more.
Batch = Callable[[Any], tuple[bytes, Any] | None]


def answer(request: HttpRequest, name: str, batch: Batch) -> StreamingHttpResponse:
    """A download called `name`, as `request`'s server can send it bit by bit."""
    asynchronous = isinstance(request, ASGIRequest)
    return StreamingHttpResponse(
        _lines_async(batch) if asynchronous else lines(batch),
        content_type=LINES,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


def lines(batch: Batch) -> Iterator[bytes]:
    """The rows, a batch at a time."""
    last: Any = None
    while found := batch(last):
        text, last = found
        yield text


async def _lines_async(batch: Batch) -> AsyncIterator[bytes]:
    """For a server that would otherwise read all of them before it sends any."""
    last: Any = None
    while found := await sync_to_async(_next)(batch, last):
        text, last = found
        yield text


def _next(batch: Batch, last: Any) -> tuple[bytes, Any] | None:
    try:
        return batch(last)
    finally:
        # A slow reader holds no connection.
        if not connection.in_atomic_block:
            close_old_connections()
