"""Write a file of the archive locally, copy it to the storage, read it back, and commit its index.

A process that is killed before the commit leaves the row of an unfinished file. The next archiving
turn removes the row and any part of the file. Retention waits for the commit.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from hashlib import file_digest
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Max

from executions.public.database import ClockTimestamp, transaction
from executions.public.models import WorkflowExecution
from runners.public.models import Run
from valkyr_plugins.archive import columns, storage
from valkyr_plugins.archive.conf import chosen
from valkyr_plugins.archive.errors import ArchiveBroken, ArchiveRefused
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile, FileState, KeptLetter
from valkyr_plugins.archive.work_folder import work_folder

# Maximum size of a row group, in rows and bytes. To show one execution, Valkyr reads one group.
GROUP_ROWS, GROUP_BYTES = 1_000, 8 * 1024 * 1024
READ_AT_ONCE = 200
INDEXED_AT_ONCE = 5_000
LEVEL = 3  # level of Zstandard compression


@dataclass(frozen=True, slots=True)
class FileEntry:
    """An execution in a file: its ID, workflow and end, and the row group that contains it."""

    id: UUID
    workflow_id: UUID
    ended_at: datetime
    group: int


@dataclass(slots=True)
class WrittenFile:
    """The executions of a local file, its row counts, and the keys of its sealed values."""

    entries: list[FileEntry] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    keys: set[int] = field(default_factory=set)


class FileWriter:
    """Writes a local Parquet file, in row groups of limited size."""

    def __init__(self, path: Path, schema: Any) -> None:
        """Create the Parquet file at `path`."""
        import pyarrow.parquet as pq

        self.schema, self.done = schema, WrittenFile()
        self._rows: list[columns.Row] = []
        self._bytes = self.size = self._group = 0
        self._file = pq.ParquetWriter(
            path,
            schema,
            compression="zstd",
            compression_level=LEVEL,
            write_page_checksum=True,
            write_page_index=True,
        )

    def add(self, row: columns.Row) -> None:
        """Add an execution, with its runs and dead letters."""
        self._rows.append(row)
        self.done.keys |= columns.keys_in(row)
        size = sum(map(_size, row.values()))
        self._bytes, self.size = self._bytes + size, self.size + size
        if len(self._rows) >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
            self._flush()

    def add_table(self, table: Any) -> None:
        """Add a table unchanged, as one row group; ignore an empty table."""
        if not table.num_rows:
            return
        self._file.write_table(table, row_group_size=table.num_rows)
        found = zip(
            *(table[name].to_pylist() for name in ("id", "workflow_id", "finished_at")), strict=True
        )
        self.done.entries += [
            FileEntry(UUID(pk), UUID(workflow_id), ended, self._group)
            for pk, workflow_id, ended in found
        ]
        self.done.counts += counts_of(table)
        self._group += 1

    def close(self) -> WrittenFile:
        """Finish the file; return its executions, row counts and keys of sealed values."""
        self._flush()
        self._file.close()
        return self.done

    def _flush(self) -> None:
        import pyarrow as pa

        if self._rows:
            self.add_table(pa.Table.from_pylist(self._rows, schema=self.schema))
            self._rows, self._bytes = [], 0


def write(workspace_id: UUID, day: date, ids: Sequence[UUID]) -> tuple[ArchiveFile, int]:
    """Archive executions of one workspace and day; return the file and how many IDs were processed.

    Executions that do not fit are left for the next file. Raises ArchiveUnavailable and
    ArchiveBroken, and ArchiveRefused if another process has treated this file as abandoned.
    """
    file = begin(workspace_id, day)
    with work_folder() as folder:
        local = folder / "part.parquet"
        writer, taken = FileWriter(local, columns.schema()), 0
        for start in range(0, len(ids), READ_AT_ONCE):
            some = ids[start : start + READ_AT_ONCE]
            for row in rows_of(some):
                writer.add(row)
            taken += len(some)
            if writer.size >= chosen().archive_file_bytes:
                break
        publish(file, local, writer.close())
    return file, taken


def begin(workspace_id: UUID, day: date) -> ArchiveFile:
    """Create and commit the row of a new file, before any part of the file is stored."""
    with transaction.atomic():
        last = ArchiveFile.objects.filter(workspace_id=workspace_id, day=day).aggregate(
            last=Max("part")
        )["last"]
        return ArchiveFile.objects.create(workspace_id=workspace_id, day=day, part=(last or 0) + 1)


def publish(
    file: ArchiveFile, local: Path, written: WrittenFile, *, instead_of: ArchiveFile | None = None
) -> None:
    """Store a file, verify it, and commit its index. Raises the errors of `write`."""
    size, digest = _digest(local)
    _recount(local, written)
    storage.store(file.name, local)
    if storage.digest(file.name) != (size, digest):
        raise ArchiveBroken(
            f"The file {file.name} differs from what was written to the archive. It is written "
            "again; check the storage."
        )
    with transaction.atomic():
        _index(file, written, instead_of)
        done = ArchiveFile.objects.filter(pk=file.pk, state=FileState.WRITING).update(
            state=FileState.STORED,
            executions=written.counts["executions"],
            runs=written.counts["runs"],
            dead_letters=written.counts["dead_letters"],
            size=size,
            sha256=digest,
            keys=sorted(written.keys),
            error="",
            stored_at=ClockTimestamp(),
        )
        if not done:
            raise ArchiveRefused(
                f"Another process took the file {file.name} for abandoned. Its executions are "
                "archived again."
            )


def rows_of(ids: Sequence[UUID]) -> Iterator[columns.Row]:
    """Yield finished executions with their runs and dead letters."""
    runs: defaultdict[UUID, list[columns.Row]] = defaultdict(list)
    for run in columns.read(Run, execution_id__in=ids):
        runs[run["execution_id"]].append(columns.to_parquet(run))
    letters: defaultdict[UUID, list[columns.Row]] = defaultdict(list)
    model = columns.PARTS["dead_letters"]
    for letter in KeptLetter.objects.filter(execution_id__in=ids):
        row = columns.of_json(letter.row, model)
        letters[letter.execution_id].append(columns.to_parquet(row))
    for row in columns.read(WorkflowExecution, pk__in=ids, finished_at__isnull=False):
        pk = row["id"]
        yield columns.to_parquet(row) | {"runs": runs[pk], "dead_letters": letters[pk]}


def counts_of(table: Any) -> Counter[str]:
    """Return the number of rows of each kind in a table."""
    found = Counter(executions=table.num_rows)
    for name in columns.PARTS:
        if name in table.column_names:
            found[name] = sum(len(chunk.flatten()) for chunk in table[name].chunks)
    return found


def _index(file: ArchiveFile, written: WrittenFile, instead_of: ArchiveFile | None) -> None:
    ids = [entry.id for entry in written.entries]
    for start in range(0, len(ids), INDEXED_AT_ONCE):
        some = written.entries[start : start + INDEXED_AT_ONCE]
        known = ArchivedExecution.objects.filter(pk__in=ids[start : start + INDEXED_AT_ONCE])
        files = set(known.values_list("file", flat=True).distinct()) - {None}
        if instead_of is None:
            # The executions were reopened and archived again, so the files with the older copies
            # are stale.
            ArchiveFile.objects.filter(pk__in=files).update(stale=True)
        ArchivedExecution.objects.bulk_create(
            [
                ArchivedExecution(
                    id=entry.id,
                    workspace_id=file.workspace_id,
                    workflow_id=entry.workflow_id,
                    ended_at=entry.ended_at,
                    file=file,
                    row_group=entry.group,
                )
                for entry in some
            ],
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=["workflow", "ended_at", "file", "row_group"],
        )
    if instead_of is not None:
        ArchiveFile.objects.filter(pk=instead_of.pk).update(state=FileState.DELETING)


def _recount(local: Path, written: WrittenFile) -> None:
    """Read the local file again. Raises ArchiveBroken if its row counts differ from `written`."""
    import pyarrow.parquet as pq

    found: Counter[str] = Counter()
    with pq.ParquetFile(local, page_checksum_verification=True) as file:
        for group in range(file.num_row_groups):
            found += counts_of(file.read_row_group(group))
    if found != +written.counts:
        raise ArchiveBroken(
            f"A file for the archive has {dict(found)} instead of {dict(written.counts)}."
        )


def _digest(local: Path) -> tuple[int, str]:
    with local.open("rb") as file:
        return local.stat().st_size, file_digest(file, "sha256").hexdigest()


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(sum(map(_size, row.values())) for row in value)
    return 8
