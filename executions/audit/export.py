"""Export the audit trail as JSON lines, oldest first, in batches with limited memory and time.

The uses of credentials are exported the same way.

Each batch is a separate query that begins after the previous batch's last row, so no query is open
while a slow client reads.
"""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.utils.encoders import JSONEncoder

from executions.access.actor import Actor, record
from executions.audit.changes import told
from executions.database import connection
from executions.database.clock import database_now
from executions.models import Activity

M = TypeVar("M", bound=Model)
BATCH = 1_000


def begin(
    rows: QuerySet[M],
    workspaces: Sequence[UUID] | None,
    filters: Mapping[str, Any],
    actor: Actor,
    action: str = "activity.export",
    object_type: str = "Activity",
) -> QuerySet[M]:
    """Record the export, and limit `rows` to those that exist now.

    The audit trail gets one row for each workspace, or, if `workspaces` is None, one row for the
    whole installation. `filters` are the filters of the request.
    """
    until = rows.filter(created_at__lt=database_now())
    for workspace_id in [None] if workspaces is None else workspaces:
        record(
            actor,
            action,
            workspace_id=workspace_id,
            object_type=object_type,
            object_id="",
            details={"filters": told({k: v for k, v in filters.items() if v})},
        )
    return until


def batches(rows: QuerySet[M], size: int = BATCH) -> Iterator[list[M]]:
    """Yield the rows in lists of at most `size`."""
    last: Any = None
    while True:
        found = batch_after(rows, last, size)
        if found:
            yield found
        if len(found) < size:
            return
        last = found[-1].pk


def batch_after(rows: QuerySet[M], last: Any, size: int = BATCH) -> list[M]:
    """Return at most `size` rows after the ID `last`; a batch with fewer rows is the last batch."""
    rest = rows if last is None else rows.filter(pk__gt=last)
    return list(rest.order_by("pk")[:size])


Shown = Callable[[Any], dict[str, Any]]


def lines(rows: QuerySet[M], shown: Shown | None = None) -> Iterator[bytes]:
    """Yield the rows as JSON lines, batch by batch; `shown` returns the content of a line."""
    for batch in batches(rows):
        yield written(batch, shown)


def written(batch: Iterable[Any], shown: Shown | None = None) -> bytes:
    """Return rows as JSON lines; `shown` returns a row's content (by default, an audit row's)."""
    told_of = shown or _shown
    texts = (json.dumps(told_of(row), cls=JSONEncoder, ensure_ascii=False) for row in batch)
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


# Responses with rows of the audit trail, which are read while the response is sent.


LINES = "application/x-ndjson"


def answer(
    request: HttpRequest,
    rows: QuerySet[M],
    shown: Shown | None = None,
    name: str = "activity.jsonl",
) -> StreamingHttpResponse:
    """Return a streamed file of JSON lines, in a form that `request`'s server can send."""
    asynchronous = isinstance(request, ASGIRequest)
    return StreamingHttpResponse(
        lines_async(rows, shown) if asynchronous else lines(rows, shown),
        content_type=LINES,
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "no-store",
        },
    )


async def lines_async(rows: QuerySet[M], shown: Shown | None = None) -> AsyncIterator[bytes]:
    """Yield JSON lines for a server that would otherwise read all of them before sending any."""
    last: Any = None
    while batch := await sync_to_async(_next)(rows, last):
        yield written(batch, shown)
        last = batch[-1].pk


def _next(rows: QuerySet[M], last: Any) -> list[M]:
    try:
        return batch_after(rows, last)
    finally:
        # Return the connection, so that a slow client does not hold it.
        if not connection.in_atomic_block:
            close_old_connections()
