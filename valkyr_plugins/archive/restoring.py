"""Restore an archived execution to the tables, so that it can be replayed and forked.

The copy stays in the archive, so retention deletes the rows again the next time it runs, or once
the forks have ended. The dead letters are not restored, so they are not listed again. `KeptLetter`
keeps them in case the execution is archived again.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import models

from executions.public.access import Actor, record
from executions.public.database import connection, transaction
from executions.public.errors import NotFound
from executions.public.models import WorkflowExecution, WorkflowVersion
from runners.public.models import Run
from valkyr_plugins.archive import columns, reading, retention_hooks
from valkyr_plugins.archive.errors import ArchiveRefused

# References to rows that may have been deleted.
LOOSE = ("parent_id", "failure_of_id", "origin_id", "trigger_id")


def restore(pk: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Restore an archived execution to the tables, unless it is already there; return it.

    Raises NotFound, ArchiveUnavailable and ArchiveBroken, and ArchiveRefused if the execution's
    version has been deleted. The caller has checked the permission.
    """
    there = WorkflowExecution.objects.filter(pk=pk).first()
    if there is not None:
        return there
    found = reading.load(pk)
    row = dict(found.row)
    version = WorkflowVersion.objects.filter(pk=row["version_id"], workflow_id=row["workflow_id"])
    if not version.exists():
        raise ArchiveRefused(
            f"The version of the workflow that execution {pk} ran was deleted, so the execution "
            "cannot be restored. Its record can still be read."
        )
    # Another execution may have the same idempotency key now.
    row["idempotency_key"] = None
    for name in LOOSE:
        model = WorkflowExecution._meta.get_field(name.removesuffix("_id")).related_model
        assert isinstance(model, type)
        if row[name] is not None and not model._default_manager.filter(pk=row[name]).exists():
            row[name] = None
    with transaction.atomic():
        if _insert(WorkflowExecution, [row]):
            _insert(Run, row["runs"] or [])
            retention_hooks.keep_archived_letters(row["dead_letters"] or [])
            record(
                actor,
                "archive.restore",
                workspace_id=row["workspace_id"],
                object_type="WorkflowExecution",
                object_id=pk,
                reason=reason,
                details={"runs": len(row["runs"] or [])},
            )
    restored = WorkflowExecution.objects.filter(pk=pk).first()
    if restored is None:
        raise NotFound(f"Execution {pk} was deleted again. Restore it once more.")
    return restored


def _insert(model: type[models.Model], rows: Iterable[columns.Row]) -> int:
    """Insert missing rows as they were stored; return the number of new rows."""
    names, values = columns.insertable(rows, model)
    if not values:
        return 0
    kinds: dict[str, Any] = {one.attname: one for one in model._meta.concrete_fields}
    quote = connection.ops.quote_name
    into = ", ".join(quote(kinds[name].column) for name in names)
    typed = ", ".join(f"%s::{kinds[name].db_type(connection)}" for name in names)
    text = (
        f"INSERT INTO {quote(model._meta.db_table)} ({into}) VALUES ({typed}) "  # noqa: S608
        "ON CONFLICT DO NOTHING"
    )
    with connection.cursor() as cursor:
        cursor.executemany(text, values)
        return int(cursor.rowcount)
