"""Open an archived execution: read only the row group of the file that the index names."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from dlq.public.models import DeadLetterEntry
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
        """Return the execution as a row that is not in the table."""
        found = columns.instance(self.row, WorkflowExecution)
        for name in ("version_number", "version_kind", "workflow_slug"):
            setattr(found, name, self.row[name])
        found.archived_at = self.file.stored_at
        return found

    @property
    def runs(self) -> list[Any]:
        """Return its runs; their execution is the archived one."""
        return self._parts("runs", Run)

    @property
    def dead_letters(self) -> list[Any]:
        """Return its dead letters."""
        return self._parts("dead_letters", DeadLetterEntry)

    def _parts(self, name: str, model: Any) -> list[Any]:
        execution, made = self.execution, []
        for row in self.row.get(name) or []:
            one = columns.instance(row, model)
            one.execution = execution
            made.append(one)
        return made


def find(pk: UUID) -> ArchivedExecution | None:
    """Return the index's row of an archived execution, with its file."""
    rows = ArchivedExecution.objects.select_related("file")
    return rows.filter(pk=pk, file__state=FileState.STORED).first()


def load(pk: UUID) -> ArchivedRecord:
    """Return an archived execution. Raises NotFound, ArchiveUnavailable and ArchiveBroken."""
    found = find(pk)
    if found is None or found.file is None:
        raise NotFound(f"There is no archived execution {pk}.")
    return ArchivedRecord(_row(found.file, found.row_group, str(pk)), found.file)


def execution_or_none(pk: UUID) -> Any:
    """Return an archived execution, for the engine; None if there is none."""
    return load(pk).execution if find(pk) is not None else None


def _row(file: ArchiveFile, group: int, pk: str) -> columns.Row:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with storage.opened(file.name) as source:
        try:
            parquet = pq.ParquetFile(source, page_checksum_verification=True)
            ids = parquet.read_row_group(group, columns=["id"])["id"].to_pylist()
            row: columns.Row = parquet.read_row_group(group).slice(ids.index(pk), 1).to_pylist()[0]
        except (pa.ArrowException, ValueError, IndexError) as error:
            raise ArchiveBroken(
                f"The file {file.name} of the archive does not have the execution {pk} where the "
                "index says. Restore the file from a backup."
            ) from error
    return row
