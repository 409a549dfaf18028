"""Export dead letters as JSON lines, oldest first, with the payloads that the user may see."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import close_old_connections
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse
from rest_framework.utils.encoders import JSONEncoder

from dlq.models import DeadLetterEntry
from executions.access import User, reach_of, visible
from executions.access.actor import Actor, record
from executions.access.scoping import sees_all
from executions.audit.changes import told
from executions.database import connection
from executions.database.clock import database_now
from executions.states import Permission

# Export rows as a file of JSON lines, which is generated while it is sent. Memory is bounded, and
# no query stays open.
#
# Each batch is a separate query, which begins after the last row of the previous batch.


LINES = "application/x-ndjson"
# Returns the rows after an ID (None: the first rows) as bytes, and the ID of the last row. Returns
# None at the end.
Batch = Callable[[Any], tuple[bytes, Any] | None]


def answer(request: HttpRequest, name: str, batch: Batch) -> StreamingHttpResponse:
    """Return a download called `name`, streamed in the way that the request's server supports."""
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
    """Yield the rows as JSON lines, one batch at a time."""
    last: Any = None
    while found := batch(last):
        text, last = found
        yield text


async def _lines_async(batch: Batch) -> AsyncIterator[bytes]:
    """Yield the rows for an ASGI server, which would otherwise read all rows first."""
    last: Any = None
    while found := await sync_to_async(_next)(batch, last):
        text, last = found
        yield text


def _next(batch: Batch, last: Any) -> tuple[bytes, Any] | None:
    try:
        return batch(last)
    finally:
        # Return the connection, so that a slow client does not hold it.
        if not connection.in_atomic_block:
            close_old_connections()


BATCH = 50  # rows in memory at once, with inputs of up to 1 MB each
HIDDEN = {"$hidden": "You need the permission view_payloads to see this."}
# Names in the file → columns.
COLUMNS: dict[str, str] = {
    "id": "pk", "workspaceId": "workspace_id", "workflowId": "workflow_id",
    "executionId": "execution_id", "runId": "run_id", "taskId": "task_id", "groupId": "group_id",
    "fingerprint": "fingerprint", "version": "version_number", "stepPath": "step_path",
    "module": "module", "failureType": "failure_type", "failureReason": "failure_reason",
    "errorType": "error_type", "exception": "exception", "httpStatus": "http_status",
    "target": "target", "worker": "worker", "attempts": "attempts", "redrives": "redrives",
    "follows": "follows_id", "resolution": "resolution", "quarantinedAt": "quarantined_at",
    "resolvedAt": "resolved_at", "expiresAt": "expires_at", "pinned": "pinned",
    "seenAt": "seen_at", "requeuedRunId": "requeued_run_id",
    "requeuedExecutionId": "requeued_execution_id", "notes": "notes",
}  # fmt: skip
PAYLOADS: dict[str, str] = {
    "originalInputs": "original_inputs",
    "originalConfig": "original_config",
}


def begin(
    rows: QuerySet[DeadLetterEntry], user: User, filters: Mapping[str, Any], actor: Actor
) -> Batch:
    """Record the export, and return a function that reads the existing rows in batches.

    The requested workspace, or else each of the user's workspaces, gets an audit row. If the user
    may see all workspaces and requests none, the only row is for the whole installation.
    """
    until = rows.filter(quarantined_at__lt=database_now()).order_by("pk")
    for workspace_id in _workspaces(user, filters.get("workspaceId")):
        record(
            actor,
            "dead_letter.export",
            workspace_id=workspace_id,
            object_type=DeadLetterEntry.AUDITED_AS,
            object_id="",
            details={"filters": told({k: v for k, v in filters.items() if v is not None})},
        )

    def batch(last: UUID | None) -> tuple[bytes, UUID] | None:
        found = list((until if last is None else until.filter(pk__gt=last))[:BATCH])
        return (_written(found, user), found[-1].pk) if found else None

    return batch


def _workspaces(user: User, wanted: UUID | None) -> Sequence[UUID | None]:
    if wanted is not None:
        return [wanted] if sees_all(user) or wanted in reach_of(user).members else []
    return [None] if sees_all(user) else sorted(reach_of(user).members)


def _written(batch: list[DeadLetterEntry], user: User) -> bytes:
    rows = DeadLetterEntry.objects.filter(pk__in=[entry.pk for entry in batch])
    seen = set(visible(user, rows, Permission.VIEW_PAYLOADS).values_list("pk", flat=True))
    return b"".join(_line(entry, shown=entry.pk in seen) for entry in batch)


def _line(entry: DeadLetterEntry, *, shown: bool) -> bytes:
    line = {name: getattr(entry, column) for name, column in COLUMNS.items()}
    for name, column in PAYLOADS.items():
        line[name] = getattr(entry, column) if shown else HIDDEN
    return f"{json.dumps(line, cls=JSONEncoder, ensure_ascii=False)}\n".encode()
