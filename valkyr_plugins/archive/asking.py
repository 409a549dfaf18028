"""Run one SELECT over files of the archive with DuckDB, in this process.

DuckDB sees only views of the files. pyarrow reads the files; DuckDB cannot open files or addresses,
load extensions, or lift these restrictions.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from threading import Timer
from typing import Any
from uuid import UUID

from executions.public.errors import ValkyrError
from valkyr_plugins.archive import columns, storage
from valkyr_plugins.archive.conf import chosen
from valkyr_plugins.archive.models import ArchiveFile, FileState

LISTS = ", ".join(columns.PARTS)
VIEWS = (
    f"CREATE VIEW executions AS SELECT * EXCLUDE ({LISTS}) FROM archive",  # noqa: S608
    *(
        f"CREATE VIEW {name} AS SELECT workspace_slug, workflow_slug, "  # noqa: S608 - constants
        f"unnest({name}, max_depth := 2) FROM archive"
        for name in columns.PARTS
    ),
)
THREADS = 2
# The last two must stay last, because no setting can be changed after them.
LIMITS = (
    "SET temp_directory = ''",
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    f"SET threads = {THREADS}",
    "SET memory_limit = '{memory}B'",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
MOST_FILES = 10_000


class ArchiveSqlRefused(ValkyrError):
    """The statement was rejected, failed or took too long; the message says why."""

    code = "archive_sql_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveQuestion:
    """A statement, the workspaces and days that it reads, and its limits on rows and seconds."""

    statement: str
    workspaces: Sequence[UUID]
    since: date | None = None
    until: date | None = None
    limit: int = 1000
    seconds: float = 30


@dataclass(frozen=True, slots=True)
class ArchiveAnswer:
    """The columns and rows, whether `more` rows exist, and the number of files that were read."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool
    files: int


def ask(asked: ArchiveQuestion) -> ArchiveAnswer:
    """Run the statement over the workspaces' files; return the answer. Raises ArchiveSqlRefused."""
    import duckdb

    files = _files(asked)
    session = duckdb.connect(":memory:")
    try:
        _prepare(session, files)
        statement = _checked(session, asked.statement)
        with _time_limit(session, asked.seconds):
            found = session.execute(statement)
            names = [column[0] for column in found.description or ()]
            rows = found.fetchmany(asked.limit + 1)
    except duckdb.InterruptException as error:
        raise ArchiveSqlRefused(
            f"The time limit of {asked.seconds:g} s is over. Read fewer days, by --since and "
            "--until, or raise --timeout."
        ) from error
    except duckdb.OutOfMemoryException as error:
        raise ArchiveSqlRefused(
            "The statement needs more memory than VALKYR_ARCHIVE_SQL_MEMORY allows. Read fewer "
            "days, or fewer columns."
        ) from error
    except duckdb.Error as error:
        raise ArchiveSqlRefused(str(error).strip()) from error
    finally:
        session.close()
    return ArchiveAnswer(names, rows[: asked.limit], len(rows) > asked.limit, len(files))


def _files(asked: ArchiveQuestion) -> list[str]:
    rows = ArchiveFile.objects.filter(state=FileState.STORED, workspace_id__in=asked.workspaces)
    if asked.since is not None:
        rows = rows.filter(day__gte=asked.since)
    if asked.until is not None:
        rows = rows.filter(day__lte=asked.until)
    found = [file.name for file in rows.order_by("day", "id")[: MOST_FILES + 1]]
    if len(found) > MOST_FILES:
        raise ArchiveSqlRefused(
            f"There are more than {MOST_FILES:,} files. Choose days by --since and --until."
        )
    return found


def _prepare(session: Any, files: list[str]) -> None:
    import pyarrow as pa
    import pyarrow.dataset as ds

    schema = columns.schema()
    if files:
        paths, system = storage.for_arrow(files)
        # Files of earlier versions lack newer columns, which are then null.
        source = ds.dataset(paths, schema=schema, filesystem=system, format="parquet")
    else:
        source = pa.Table.from_pylist([], schema=schema)
    session.register("archive", source)
    for view in VIEWS:
        session.execute(view)
    for limit in LIMITS:
        session.execute(limit.format(memory=chosen().archive_sql_memory))


def _checked(session: Any, text: str) -> Any:
    import duckdb

    found = session.extract_statements(text)
    if len(found) != 1:
        raise ArchiveSqlRefused("Expected one statement, such as SELECT * FROM executions.")
    [statement] = found
    if statement.type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        raise ArchiveSqlRefused(
            f"{statement.type.name} is refused: this command only reads. Expected SELECT."
        )
    return statement


@contextmanager
def _time_limit(session: Any, seconds: float) -> Iterator[None]:
    timer = Timer(seconds, session.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
