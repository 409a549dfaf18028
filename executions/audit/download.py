"""The audit trail as an answer that is written while it is read."""

from collections.abc import AsyncIterator
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections, connection
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from executions.audit import export
from executions.models import Activity

LINES = "application/x-ndjson"


def answer(request: HttpRequest, rows: QuerySet[Activity]) -> StreamingHttpResponse:
    """A file of JSON lines, as `request`'s server can send it bit by bit."""
    asynchronous = isinstance(request, ASGIRequest)
    return StreamingHttpResponse(
        lines_async(rows) if asynchronous else export.lines(rows),
        content_type=LINES,
        headers={
            "Content-Disposition": 'attachment; filename="activity.jsonl"',
            "Cache-Control": "no-store",
        },
    )


async def lines_async(rows: QuerySet[Activity]) -> AsyncIterator[bytes]:
    """JSON lines for a server that would otherwise read all of them before it sends any."""
    last: UUID | None = None
    while batch := await sync_to_async(_next)(rows, last):
        yield export.written(batch)
        last = batch[-1].pk


def _next(rows: QuerySet[Activity], last: UUID | None) -> list[Activity]:
    try:
        return export.batch_after(rows, last)
    finally:
        # A slow reader holds no connection.
        if not connection.in_atomic_block:
            close_old_connections()
