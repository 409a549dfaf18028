"""Export the audit trail as JSON lines, oldest first, in batches of limited memory and time.

Each batch is a separate query that begins after the previous one's last row, so nothing is held
while a slow client reads.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.utils.encoders import JSONEncoder

from executions.access.actor import Actor, record
from executions.audit.changes import told
from executions.database import connection
from executions.database.clock import database_now
from executions.models import Activity

BATCH = 1_000


def begin(
    rows: QuerySet[Activity],
    workspaces: Sequence[UUID] | None,
    filters: Mapping[str, Any],
    actor: Actor,
) -> QuerySet[Activity]:
    """Return the rows to export, as of now, and record the export.

    Records one row in each of the workspaces, or, for None, one for the whole installation.
    `filters` are the request's.
    """
    until = rows.filter(created_at__lt=database_now())
    for workspace_id in [None] if workspaces is None else workspaces:
        record(
            actor,
            "activity.export",
            workspace_id=workspace_id,
            object_type="Activity",
            object_id="",
            details={"filters": told({k: v for k, v in filters.items() if v})},
        )
    return until


def batches(rows: QuerySet[Activity], size: int = BATCH) -> Iterator[list[Activity]]:
    """Yield the rows in lists of at most `size` rows."""
    last: UUID | None = None
    while True:
        found = batch_after(rows, last, size)
        if found:
            yield found
        if len(found) < size:
            return
        last = found[-1].pk


def batch_after(rows: QuerySet[Activity], last: UUID | None, size: int = BATCH) -> list[Activity]:
    """Return up to `size` rows after the row with that ID; fewer mean that these are the last."""
    rest = rows if last is None else rows.filter(pk__gt=last)
    return list(rest.order_by("pk")[:size])


def lines(rows: QuerySet[Activity]) -> Iterator[bytes]:
    """Yield the rows as JSON lines, a batch at a time."""
    for batch in batches(rows):
        yield written(batch)


def written(batch: Iterable[Activity]) -> bytes:
    """Return rows as JSON, one per line, as the API shows each."""
    texts = (json.dumps(_shown(row), cls=JSONEncoder, ensure_ascii=False) for row in batch)
    return "".join(f"{text}\n" for text in texts).encode()


def _shown(row: Activity) -> dict[str, Any]:
    return {
        "id": row.pk,
        "workspaceId": row.workspace_id,
        "actorId": row.actor_id,
        "actor": row.actor_name,
        "via": row.via,
        "address": row.address,
        "action": row.action,
        "objectType": row.object_type,
        "objectId": row.object_id,
        "reason": row.reason,
        "createdAt": row.created_at,
        "before": row.before,
        "after": row.after,
        "details": row.details,
    }


# The audit trail as a response that is generated while it is sent.


LINES = "application/x-ndjson"


def answer(request: HttpRequest, rows: QuerySet[Activity]) -> StreamingHttpResponse:
    """Return a streamed response of JSON lines, in a form that the server of `request` can send."""
    asynchronous = isinstance(request, ASGIRequest)
    return StreamingHttpResponse(
        lines_async(rows) if asynchronous else lines(rows),
        content_type=LINES,
        headers={
            "Content-Disposition": 'attachment; filename="activity.jsonl"',
            "Cache-Control": "no-store",
        },
    )


async def lines_async(rows: QuerySet[Activity]) -> AsyncIterator[bytes]:
    """Yield JSON lines to an asynchronous server, which would otherwise read all lines first."""
    last: UUID | None = None
    while batch := await sync_to_async(_next)(rows, last):
        yield written(batch)
        last = batch[-1].pk


def _next(rows: QuerySet[Activity], last: UUID | None) -> list[Activity]:
    try:
        return batch_after(rows, last)
    finally:
        # A slow client holds no connection.
        if not connection.in_atomic_block:
            close_old_connections()
