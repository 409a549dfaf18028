"""Run frequent SQL statements, named after their files, on the raw connection."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db import ProgrammingError, connections
from psycopg.rows import tuple_row

from executions.database import one_partition
from executions.database.names import named
from executions.database.routing import alias
from executions.vendor_seams.django_connections import is_outermost, mark_healthy
from executions.vendor_seams.psycopg_pipeline import begins, is_idle, one_round_trip

EACH_TIME = "--! plan each time"
ONE_PARTITION = "--! one partition: "
# Maximum number of prepared statements of a connection, which is more than there are. With
# psycopg's default of 100, each further statement costs a round trip to remove the oldest one,
# which must then be prepared again.
MOST_PREPARED = 1_000


class Statements:
    """The statements of one folder, each in its `<name>.sql`; shared parts are in `parts`.

    They are prepared; from the sixth use on, PostgreSQL can keep one plan until it analyses a table
    again. A statement with `--! plan each time` is planned for its values and the current tables:
    with an array of IDs, a plan made for a small table would continue to read the whole table.

    With `--! one partition: execution`, all rows of partitioned tables belong to the executions in
    that parameter (an ID or several), so the statement names their partition (`one_partition`).
    """

    def __init__(self, folder: Path) -> None:
        """Set the folder; each file is read once, at its first use."""
        self.folder = folder
        self.text = cache(self._text)
        self.kept = cache(self._kept)
        self.key = cache(self._key)

    def fetch(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a named statement on the connection to Valkyr's database and return its rows.

        The statement joins the open transaction; if none is open, it commits immediately.
        """
        return run(self.asked(name, params))

    def fetch_one(self, name: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """Return the first row of a named statement; None if it returns no rows."""
        rows = self.fetch(name, params)
        return rows[0] if rows else None

    def fetch_together(
        self, asked: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[list[tuple[Any, ...]]]:
        """Run named statements, and return the rows of each, as `run_together` does."""
        return run_together([self.asked(name, params) for name, params in asked])

    def asked(self, name: str, params: Mapping[str, Any]) -> "BoundStatement":
        """Return the named statement with its parameters, for `run` or `run_together`."""
        return BoundStatement(self.text(name), params, self.kept(name), self.key(name))

    def _text(self, name: str) -> str:
        """Return a file's SQL without comments, with its shared parts and the project's names.

        Comments and indentation are removed because psycopg caches its parsing of a query only up
        to 4,096 characters.
        """
        return named(" ".join(self._lines(self.folder / f"{name}.sql")))

    def _kept(self, name: str) -> bool:
        """Return whether PostgreSQL may keep the plan of a named statement."""
        return EACH_TIME not in (self.folder / f"{name}.sql").read_text().splitlines()

    def _key(self, name: str) -> str:
        """Return the parameter whose IDs determine the partition with the statement's rows.

        Returns "" if the statement has no such parameter.
        """
        lines = (self.folder / f"{name}.sql").read_text().splitlines()
        keys = (line.removeprefix(ONE_PARTITION) for line in lines if ONE_PARTITION in line)
        return next(keys, "")

    def _lines(self, file: Path) -> Iterator[str]:
        """Yield a file's lines except comments; `parts/<name>.sql` replaces `--+ <name>`."""
        for line in map(str.strip, file.read_text().splitlines()):
            if line.startswith("--+ "):
                yield from self._lines(self.folder / "parts" / f"{line[4:]}.sql")
            elif not line.startswith("--"):
                yield line


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement with its parameters, to run alone or together with statements of any folder."""

    text: str
    params: Mapping[str, Any]
    kept: bool  # whether PostgreSQL keeps its plan
    key: str = ""  # the parameter that determines the partition with the rows

    @property
    def narrowed(self) -> str:
        """Return the statement's text; it names the partition with the rows, if known."""
        return one_partition.named_in(self.text, self.params[self.key]) if self.key else self.text


def run(asked: BoundStatement) -> list[tuple[Any, ...]]:
    """Run one statement and return its rows, as `Statements.fetch` does."""
    # Uses neither the proxy `connection` nor `cursor.description`: each would add a tenth to the
    # 200 µs of a frequent statement.
    django = connections[alias()]
    if django.connection is None:
        django.ensure_connection()
    raw = django.connection
    if begins(raw):
        return run_together([asked])[0]
    _keep_all(raw)
    text = asked.narrowed if is_idle(raw) else asked.text
    try:
        with django.wrap_database_errors, raw.cursor(row_factory=tuple_row) as cursor:
            cursor.execute(text, asked.params, prepare=asked.kept)
            mark_healthy(django)
            return _rows(cursor)
    except ProgrammingError as error:
        if text == asked.text or not one_partition.is_gone(error):
            raise
    return run(BoundStatement(asked.text, asked.params, asked.kept))


def run_together(
    asked: Sequence[BoundStatement], *, last: bool = False
) -> list[list[tuple[Any, ...]]]:
    """Run statements one after another in one round trip; return the rows of each.

    They join the open transaction (a BEGIN that is due is sent with them), or form one that commits
    with the last of them. Each sees the effects of the earlier ones, and changes that other
    sessions committed in between. If one fails, the later ones do not run, and the error is raised.

    With `last`, nothing follows in the outermost `atomic` block, so its COMMIT is sent with them.
    Within another block this changes nothing.
    """
    if not asked:
        return []
    django = connections[alias()]
    if django.connection is None:
        django.ensure_connection()
    raw = django.connection
    _keep_all(raw)
    whole = [one.text for one in asked]
    # The statements can be repeated only if nothing precedes them in the transaction.
    texts = [one.narrowed for one in asked] if is_idle(raw) else whole
    try:
        return _answers(django, texts, asked, last)
    except ProgrammingError as error:
        if texts == whole or not one_partition.is_gone(error):
            raise
    raw.rollback()
    return _answers(django, whole, asked, last)


def _answers(
    django: Any, texts: Sequence[str], asked: Sequence[BoundStatement], last: bool
) -> list[list[tuple[Any, ...]]]:
    raw = django.connection
    with django.wrap_database_errors, ExitStack() as open_cursors:
        cursors = [open_cursors.enter_context(raw.cursor(row_factory=tuple_row)) for _ in asked]
        with one_round_trip(raw, commit=last and is_outermost(django)):
            for cursor, text, statement in zip(cursors, texts, asked, strict=True):
                cursor.execute(text, statement.params, prepare=statement.kept)
        mark_healthy(django)
        return [_rows(cursor) for cursor in cursors]


def _keep_all(raw: Any) -> None:
    if raw.prepared_max != MOST_PREPARED:
        raw.prepared_max = MOST_PREPARED


def _rows(cursor: Any) -> list[tuple[Any, ...]]:
    """Return the rows of a statement; [] if it returns none."""
    return cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []


_own = Statements(Path(__file__).parents[1] / "sql")
FOLDER, statement, fetch, fetch_one = _own.folder, _own.text, _own.fetch, _own.fetch_one
fetch_together, asked = _own.fetch_together, _own.asked
