"""Open an archived execution: read only the row group that is named in the index."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from dlq.public.models import DeadLetterEntry
from executions.public.access import Action, Powers, powers_on, refused
from executions.public.errors import NotFound
from executions.public.models import WorkflowExecution
from runners.public.models import Run
from valkyr_plugins.archive import columns, storage
from valkyr_plugins.archive.errors import ArchiveBroken
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """An archived execution as it was stored, and its file."""

    row: columns.Row
    file: ArchiveFile

    @property
    def execution(self) -> Any:
        """Return the execution as an unsaved row."""
        found = columns.instance(self.row, WorkflowExecution)
        for name in ("version_number", "version_kind", "workflow_slug"):
            setattr(found, name, self.row[name])
        found.archived_at = self.file.stored_at
        return found

    @property
    def runs(self) -> list[Any]:
        """Return the execution's runs, which refer to the archived execution."""
        return self._parts("runs", Run)

    @property
    def dead_letters(self) -> list[Any]:
        """Return the execution's dead letters."""
        return self._parts("dead_letters", DeadLetterEntry)

    def _parts(self, name: str, model: Any) -> list[Any]:
        execution, made = self.execution, []
        for row in self.row.get(name) or []:
            one = columns.instance(row, model)
            one.execution = execution
            made.append(one)
        return made


def find(pk: UUID) -> ArchivedExecution | None:
    """Return the index's row of an archived execution, with its file; None if there is no copy."""
    rows = ArchivedExecution.objects.select_related("file")
    return rows.filter(pk=pk, file__state=FileState.STORED).first()


def load(pk: UUID) -> ArchivedRecord:
    """Return an archived execution. Raises NotFound, ArchiveUnavailable or ArchiveBroken."""
    found = find(pk)
    if found is None or found.file is None:
        raise NotFound(f"There is no archived execution {pk}.")
    return ArchivedRecord(_row(found.file, found.row_group, str(pk)), found.file)


def powers_of(user: Any, pk: UUID, power: Action) -> Powers:
    """Return the caller's powers on an archived execution, which must include `power`.

    The index is enough to check permissions, so no file is read for callers without the permission.
    Raises Forbidden, or NotFound if the caller's workspaces have no such execution.
    """
    entry = find(pk)
    powers = powers_on(user, entry.workspace_id, entry.workflow_id) if entry is not None else None
    if powers is None or not powers.any:
        raise NotFound(f"There is no archived execution {pk} in your workspaces.")
    if not powers.allows(power):
        raise refused(powers.role, power)
    return powers


def obtain(user: Any, pk: UUID, power: Action) -> tuple[ArchivedRecord, Powers]:
    """Return an archived execution and the caller's powers on it, which must include `power`.

    Raises the errors of `powers_of`, ArchiveUnavailable and ArchiveBroken.
    """
    powers = powers_of(user, pk, power)
    return load(pk), powers


def obtain_execution(user: Any, pk: UUID, power: Action) -> tuple[Any, Powers]:
    """Return an archived execution as the engine's model, and the caller's powers; see `obtain`."""
    found, powers = obtain(user, pk, power)
    return found.execution, powers


def _row(file: ArchiveFile, group: int, pk: str) -> columns.Row:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with storage.opened(file.name) as source:
        try:
            parquet = pq.ParquetFile(source, page_checksum_verification=True)
            ids = parquet.read_row_group(group, columns=["id"])["id"].to_pylist()
            row: columns.Row = parquet.read_row_group(group).slice(ids.index(pk), 1).to_pylist()[0]
        except (pa.ArrowException, ValueError, IndexError) as error:
            raise _broken(file, pk) from error
        except OSError as error:
            # PyArrow raises OSError for an unavailable storage, but also for a page with a wrong
            # checksum.
            if storage.digest(file.name) == (file.size, file.sha256):
                raise
            raise _broken(file, pk) from error
    return row


def _broken(file: ArchiveFile, pk: str) -> ArchiveBroken:
    return ArchiveBroken(
        f"The file {file.name} of the archive is damaged: the execution {pk} cannot be read where "
        "the index says. Restore the file from a backup."
    )
