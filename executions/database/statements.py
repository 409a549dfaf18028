"""Hot statements, by name, from a folder; run on the raw connection, prepared on the server."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.db import connections
from psycopg.rows import tuple_row

from executions.database.names import named
from executions.database.routing import alias
from executions.vendor_seams.django_connections import is_outermost, mark_healthy
from executions.vendor_seams.psycopg_pipeline import begins, one_round_trip

EACH_TIME = "--! plan each time"


class Statements:
    """The statements of one folder: `<name>.sql` each; what several share is in `parts`.

    They are prepared, and from their sixth use on PostgreSQL keeps one plan, until it analyses a
    table anew. One that says `--! plan each time` is planned for its values and for the tables as
    they are: with an array of ids, a plan made on a small table would go on reading all of it.
    """

    def __init__(self, folder: Path) -> None:
        """Read nothing yet; each file is read once, when it is first used."""
        self.folder = folder
        self.text = cache(self._text)
        self.kept = cache(self._kept)

    def fetch(self, name: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a named statement on Django's connection and return its rows.

        It joins the transaction that is open, or commits by itself.
        """
        return run(self.asked(name, params))

    def fetch_one(self, name: str, params: Mapping[str, Any]) -> tuple[Any, ...] | None:
        """The first row of a named statement, or None."""
        rows = self.fetch(name, params)
        return rows[0] if rows else None

    def fetch_together(
        self, asked: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[list[tuple[Any, ...]]]:
        """Run named statements as `run_together` does."""
        return run_together([self.asked(name, params) for name, params in asked])

    def asked(self, name: str, params: Mapping[str, Any]) -> "BoundStatement":
        """The named statement, for who runs it with others."""
        return BoundStatement(self.text(name), params, self.kept(name))

    def _text(self, name: str) -> str:
        """The SQL of a file without comments, with what it shares and the project's names.

        Comments and indentation are taken out because psycopg caches its reading of a query only
        up to 4,096 characters.
        """
        return named(" ".join(self._lines(self.folder / f"{name}.sql")))

    def _kept(self, name: str) -> bool:
        """Whether a statement's plan may be kept."""
        return EACH_TIME not in (self.folder / f"{name}.sql").read_text().splitlines()

    def _lines(self, file: Path) -> Iterator[str]:
        """The lines of a file; where it says `--+ <name>` stand those of `parts/<name>.sql`."""
        for line in map(str.strip, file.read_text().splitlines()):
            if line.startswith("--+ "):
                yield from self._lines(self.folder / "parts" / f"{line[4:]}.sql")
            elif not line.startswith("--"):
                yield line


@dataclass(frozen=True, slots=True)
class BoundStatement:
    """A statement that is to be run with others, of this folder or another."""

    text: str
    params: Mapping[str, Any]
    kept: bool  # whether PostgreSQL keeps its plan


def run(asked: BoundStatement) -> list[tuple[Any, ...]]:
    """Run one statement as `Statements.fetch` does."""
    # Neither through the proxy `connection` nor with `cursor.description`: a hot statement takes
    # 200 us, and each of the two is a tenth of that.
    django = connections[alias()]
    if django.connection is None:
        django.ensure_connection()
    if begins(django.connection):
        return run_together([asked])[0]
    with django.wrap_database_errors, django.connection.cursor(row_factory=tuple_row) as cursor:
        cursor.execute(asked.text, asked.params, prepare=asked.kept)
        mark_healthy(django)
        return _rows(cursor)


def run_together(
    asked: Sequence[BoundStatement], *, last: bool = False
) -> list[list[tuple[Any, ...]]]:
    """Run statements one after the other in one round trip; the rows of each.

    They join the transaction that is open (its BEGIN goes with them), or are one that commits with
    the last of them. Each sees what those before it did, and what was committed while they waited.
    When one fails those after it do not run, and the error is raised.

    `last`: nothing follows in the outermost `atomic` block, so its COMMIT goes with them. Within
    another block this changes nothing.
    """
    if not asked:
        return []
    django = connections[alias()]
    if django.connection is None:
        django.ensure_connection()
    raw = django.connection
    with django.wrap_database_errors, ExitStack() as open_cursors:
        cursors = [open_cursors.enter_context(raw.cursor(row_factory=tuple_row)) for _ in asked]
        with one_round_trip(raw, commit=last and is_outermost(django)):
            for cursor, statement in zip(cursors, asked, strict=True):
                cursor.execute(statement.text, statement.params, prepare=statement.kept)
        mark_healthy(django)
        return [_rows(cursor) for cursor in cursors]


def _rows(cursor: Any) -> list[tuple[Any, ...]]:
    """What the statement answered; nothing of one that answers nothing."""
    return cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []


_own = Statements(Path(__file__).parents[1] / "sql")
FOLDER, statement, fetch, fetch_one = _own.folder, _own.text, _own.fetch, _own.fetch_one
fetch_together, asked = _own.fetch_together, _own.asked
