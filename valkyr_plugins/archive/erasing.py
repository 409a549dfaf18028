"""Erase executions from the archive, and find broken files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from uuid import UUID

from django.db.models import Exists, OuterRef

from executions.public.access import Actor, record
from executions.public.database import (
    AdvisoryLock,
    alone,
    delete_without_cascade,
    transaction,
)
from executions.public.errors import NotFound, ValkyrError
from executions.public.models import WorkflowExecution, Workspace
from valkyr_plugins.archive import archiving, storage
from valkyr_plugins.archive.errors import ArchiveRefused
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState, KeptLetter


def erase(ids: Sequence[UUID], *, actor: Actor, reason: str = "") -> int:
    """Erase executions: rewrite their files without them. Return how many were in the archive.

    An execution that is still in the tables gets no copy, and retention deletes it without one.
    Raises ArchiveUnavailable, ArchiveBroken, or ArchiveRefused if the archive is being written.
    After an error, call the function again.
    """
    with _alone():
        with transaction.atomic():
            rows = ArchivedExecution.objects.filter(pk__in=ids, file__isnull=False)
            copies = list(rows.values_list("pk", "file__workspace_id"))
            ArchiveFile.objects.filter(pk__in=rows.values("file")).update(stale=True)
            delete_without_cascade(ArchivedExecution.objects.filter(pk__in=ids))
            delete_without_cascade(KeptLetter.objects.filter(execution_id__in=ids))
            there = WorkflowExecution.objects.filter(pk__in=ids)
            ArchivedExecution.objects.bulk_create(
                [
                    ArchivedExecution(id=pk, workspace_id=workspace_id)
                    for pk, workspace_id in there.values_list("pk", "workspace_id")
                ]
            )
            for pk, workspace_id in copies:
                record(
                    actor,
                    "archive.erase",
                    workspace_id=workspace_id,
                    object_type="WorkflowExecution",
                    object_id=pk,
                    reason=reason,
                )
        archiving.tidy()
    return len(copies)


def erase_workspace(slug: str, before: str | None, *, actor: Actor, reason: str = "") -> int:
    """Erase a workspace's files, or those of days before `before`; return the number of executions.

    Executions of these files that are still in the tables get no other copy.
    Raises NotFound and the errors of `erase`.
    """
    workspace = Workspace.objects.filter(slug=slug).first()
    if workspace is None:
        raise NotFound(f"There is no workspace {slug!r}.")
    files = ArchiveFile.objects.filter(workspace=workspace, state=FileState.STORED)
    if before is not None:
        files = files.filter(day__lt=_day(before))
    done = 0
    with _alone():
        for file in files:
            _erase_file(file)
            done += file.executions
        record(
            actor,
            "archive.erase",
            workspace_id=workspace.pk,
            object_type="Workspace",
            object_id=workspace.pk,
            reason=reason,
            details={"executions": done, "before": before},
        )
        archiving.tidy()
    return done


def _erase_file(file: ArchiveFile) -> None:
    there = WorkflowExecution.objects.filter(pk=OuterRef("pk"))
    with transaction.atomic():
        erased = ArchivedExecution.objects.filter(file=file)
        kept = KeptLetter.objects.filter(execution_id__in=erased.values("pk"))
        delete_without_cascade(kept)
        # Keep the rows without a file, so that these executions are not archived again.
        erased.filter(Exists(there)).update(file=None, workflow=None, ended_at=None, row_group=0)
        archiving.drop(file)


def broken() -> Iterator[str]:
    """Yield a line for each stored file that is unreadable or differs from its digest."""
    for file in ArchiveFile.objects.filter(state=FileState.STORED).order_by("pk").iterator():
        try:
            if storage.digest(file.name) != (file.size, file.sha256):
                yield f"{file.name}: differs from what was written"
        except ValkyrError as error:
            yield f"{file.name}: {error.message}"


@contextmanager
def _alone() -> Iterator[None]:
    with alone(AdvisoryLock.ARCHIVE) as held:
        if not held:
            raise ArchiveRefused("The archive is being written. Try again in some minutes.")
        yield


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArchiveRefused(f"{text!r} is not a day such as 2026-01-31.") from None
