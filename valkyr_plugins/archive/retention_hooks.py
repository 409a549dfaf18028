"""Let retention wait for the archive, and keep the dead letters that retention deletes earlier."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from dlq.public.models import DeadLetterEntry
from dlq.public.retention import BEFORE_DELETION, UNSTORED
from executions.public.models import VersionKind, WorkflowExecution
from executions.public.payload_store import HOLDERS
from executions.public.sealing import KEY_HOLDERS
from valkyr_plugins.archive import columns
from valkyr_plugins.archive.conf import enabled
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState, KeptLetter


def unstored(rows: QuerySet[WorkflowExecution]) -> set[UUID]:
    """Return the IDs of those executions in `rows` that must be archived before they are deleted.

    Executions of test versions are not archived, and erased executions need no copy.
    """
    if not enabled():
        return set()
    copies = ArchivedExecution.objects.filter(
        Q(file=None) | Q(file__state=FileState.STORED, ended_at=OuterRef("finished_at")),
        pk=OuterRef("pk"),
    )
    missing = rows.filter(~Exists(copies))
    return set(missing.exclude(version__kind=VersionKind.TEST).values_list("pk", flat=True))


def keep_letters(ids: Sequence[UUID]) -> None:
    """Copy the rows of dead letters for the archive, right before the dead letters are deleted."""
    if not ids or not enabled():
        return
    erased = ArchivedExecution.objects.filter(pk=OuterRef("execution_id"), file=None)
    rows = DeadLetterEntry.objects.filter(~Exists(erased), pk__in=ids)
    wanted = rows.exclude(execution__version__kind=VersionKind.TEST).values_list("pk", flat=True)
    _keep(columns.read(DeadLetterEntry, pk__in=list(wanted)))


def keep_archived_letters(rows: Sequence[columns.Row]) -> None:
    """Keep the dead letters of a restored execution until it is archived again or deleted.

    `rows` are in their archived form. If the execution is reopened, its next copy replaces the
    current one and must contain these dead letters too.
    """
    _keep(rows)


def _keep(rows: Iterable[columns.Row]) -> None:
    KeptLetter.objects.bulk_create(
        [
            KeptLetter(
                id=row["id"],
                workspace_id=row["workspace_id"],
                execution_id=row["execution_id"],
                row=columns.to_json(row),
            )
            for row in rows
        ],
        ignore_conflicts=True,
    )


def archived() -> QuerySet[Any]:
    """Return the archived executions, whose large values are kept in the payload store."""
    return ArchivedExecution.objects.filter(file__isnull=False)


def old_keys(workspace_id: UUID, current: int) -> str:
    """Return the reason why the workspace needs keys other than `current`; "" if it does not.

    An unfinished file is a reason: it may contain values that have been sealed again since.
    """
    files = ArchiveFile.objects.filter(workspace_id=workspace_id)
    if files.filter(state=FileState.WRITING).exists():
        return "The archive is being written. Try again in some minutes."
    used = {key for keys in files.values_list("keys", flat=True) for key in keys}
    for letter in KeptLetter.objects.filter(workspace_id=workspace_id).iterator():
        used |= columns.keys_in({name: _text(value) for name, value in letter.row.items()})
    if used - {current}:
        return "Values in the archive are sealed with an old key, and are not sealed again."
    return ""


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else None


KEY_HOLDERS.append(old_keys)
UNSTORED.append(unstored)
BEFORE_DELETION.append(keep_letters)
HOLDERS.append(archived)
