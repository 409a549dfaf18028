"""Clean up, then archive executions that retention may delete, in files per workspace and day.

The periodic task archives only whole days. So retention deletes an execution up to a day later than
it would without an archive.
"""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from uuid import UUID

from django.db.models import Exists, OuterRef

from dlq.public.retention import (
    PruningPosition,
    RetentionPeriods,
    as_set,
    expired,
    read_mark,
    write_mark,
)
from executions.public.access import Actor, record
from executions.public.database import (
    AdvisoryLock,
    alone,
    database_now,
    delete_without_cascade,
    transaction,
)
from executions.public.errors import ValkyrError
from executions.public.models import WorkflowExecution
from valkyr_plugins.archive import storage, writing
from valkyr_plugins.archive.conf import chosen, enabled
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState, KeptLetter
from valkyr_plugins.archive.retention_hooks import unstored
from valkyr_plugins.archive.work_folder import remove_abandoned, work_folder

ACTOR = Actor.system("archive")
MARK = "archive"
# Time, in seconds, for which a turn searches for executions before it writes them.
LOOK_SECONDS = 5.0
MEMBERS = 10_000
# Takes about 20 s to write, during which the worker's other duties wait.
MOST_FOUND = 50_000
Found = dict[tuple[UUID, date], list[UUID]]


@dataclass(slots=True)
class ArchivingTurn:
    """The numbers of archived files and executions, and whether more executions are waiting."""

    files: int = 0
    executions: int = 0
    more: bool = False


def turn(wanted: RetentionPeriods | None = None, seconds: float = LOOK_SECONDS) -> ArchivingTurn:
    """Archive expired executions, unless there is no archive or another process is archiving.

    `wanted` replaces the periods of the settings, and starts the search at the oldest execution.
    Raises the errors of `writing.write`; the next turn continues.
    """
    done = ArchivingTurn()
    if not enabled():
        return done
    with alone(AdvisoryLock.ARCHIVE) as held:
        if held:
            tidy()
            _archive(wanted, seconds, done)
            tidy()
    if done.executions:
        details = {"files": done.files, "executions": done.executions}
        record(ACTOR, "archive.write", workspace_id=None, object_type="Archive",
               object_id="archive", details=details)  # fmt: skip
    return done


def _archive(wanted: RetentionPeriods | None, seconds: float, done: ArchivingTurn) -> None:
    since = PruningPosition() if wanted else read_mark(MARK)
    periods = wanted or as_set(_midnight(database_now()))
    found, position = look(periods, since, seconds)
    most = chosen().archive_file_executions
    for (workspace_id, day), ids in sorted(found.items(), key=lambda one: one[0][1]):
        start = 0
        while start < len(ids):
            taken = _write(workspace_id, day, ids[start : start + most])
            done.files += 1
            done.executions += taken
            start += taken
    done.more = position is not None
    if not wanted:
        write_mark(MARK, position)


def look(
    wanted: RetentionPeriods, since: PruningPosition, seconds: float
) -> tuple[Found, PruningPosition | None]:
    """Return the IDs of executions to archive, grouped by workspace and day, and the next position.

    The position is None at the end.
    """
    until, found, number = (
        time.monotonic() + seconds,
        defaultdict[tuple[UUID, date], list[UUID]](list),
        0,
    )
    for families, position in expired(wanted, since, MEMBERS):
        ids = [pk for family in families for pk in family.members]
        for some in _parts(ids):
            missing = unstored(WorkflowExecution.objects.filter(pk__in=some))
            rows = WorkflowExecution.objects.filter(pk__in=missing).order_by("pk")
            for pk, workspace_id, ended in rows.values_list("pk", "workspace_id", "finished_at"):
                assert ended is not None
                found[workspace_id, ended.astimezone(UTC).date()].append(pk)
                number += 1
        if time.monotonic() > until or number >= MOST_FOUND:
            return found, position
    return found, None


def tidy() -> None:
    """Remove expired files, unneeded rows and leftovers of killed processes; rewrite stale files.

    The caller holds the lock. Raises the errors of `writing.write`.
    """
    remove_abandoned()
    if days := chosen().archive_keep_days:
        limit = (database_now() - timedelta(days=days)).date()
        for file in ArchiveFile.objects.filter(day__lt=limit, state=FileState.STORED):
            drop(file)
    for file in ArchiveFile.objects.filter(state=FileState.STORED, stale=True):
        rewrite(file)
    for file in ArchiveFile.objects.exclude(state=FileState.STORED):
        with _noted(file):
            storage.remove(file.name)
        file.delete()
    there = WorkflowExecution.objects.filter(pk=OuterRef("pk"))
    erased = ArchivedExecution.objects.filter(~Exists(there), file=None)
    delete_without_cascade(erased)
    kept = WorkflowExecution.objects.filter(pk=OuterRef("execution_id"))
    delete_without_cascade(KeptLetter.objects.filter(~Exists(kept)))


def drop(file: ArchiveFile) -> None:
    """Delete a file's index and mark the file for deletion; `tidy` removes it from the storage."""
    with transaction.atomic():
        delete_without_cascade(ArchivedExecution.objects.filter(file=file))
        ArchiveFile.objects.filter(pk=file.pk).update(state=FileState.DELETING)


def rewrite(file: ArchiveFile) -> None:
    """Rewrite a file with only the executions that are still indexed; drop the file if none are."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    ids = ArchivedExecution.objects.filter(file=file).values_list("pk", flat=True)
    kept = pa.array([str(pk) for pk in ids], pa.string())
    if not len(kept):
        drop(file)
        return
    new = writing.begin(file.workspace_id, file.day)
    with _noted(new), work_folder() as folder:
        local = folder / "part.parquet"
        with storage.opened(file.name) as source:
            parquet = pq.ParquetFile(source, page_checksum_verification=True)
            writer = writing.FileWriter(local, parquet.schema_arrow)
            for group in range(parquet.num_row_groups):
                table = parquet.read_row_group(group)
                writer.add_table(table.filter(pc.is_in(table["id"], value_set=kept)))
            written = writer.close()
            written.keys = set(file.keys)
        writing.publish(new, local, written, instead_of=file)


def _write(workspace_id: UUID, day: date, ids: list[UUID]) -> int:
    try:
        return writing.write(workspace_id, day, ids)[1]
    except ValkyrError as error:
        unfinished = ArchiveFile.objects.filter(workspace_id=workspace_id, day=day)
        unfinished.filter(state=FileState.WRITING).update(error=error.message)
        raise


@contextmanager
def _noted(file: ArchiveFile) -> Iterator[None]:
    """Store a ValkyrError of the block in the file's row, for the file's page; raise it again."""
    try:
        yield
    except ValkyrError as error:
        ArchiveFile.objects.filter(pk=file.pk).update(error=error.message)
        raise


def _midnight(now: datetime) -> datetime:
    return datetime.combine(now.astimezone(UTC).date(), clock(), UTC)


def _parts(ids: list[UUID]) -> Iterator[list[UUID]]:
    for start in range(0, len(ids), writing.INDEXED_AT_ONCE):
        yield ids[start : start + writing.INDEXED_AT_ONCE]
