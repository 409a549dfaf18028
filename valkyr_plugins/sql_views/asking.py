"""Run one statement over the views: read-only, with a timeout, and by default on a replica, if any.

The statement runs in a separate session, as the role that can read only the views. It runs inside a
function in which PostgreSQL lets no statement change the role.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import psycopg
from django.db import connections
from psycopg import sql
from psycopg.pq import ExecStatus

from executions.public.database import REPLICA, alias
from executions.public.errors import ValkyrError
from valkyr_plugins.sql_views.catalogue import views
from valkyr_plugins.sql_views.conf import reader, schema
from valkyr_plugins.sql_views.installing import CHOSEN, RUNNER

READING = {"SELECT", "WITH", "VALUES", "TABLE", "EXPLAIN", "SHOW"}
# The first word after comments and opening parentheses.
FIRST_WORD = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*([A-Za-z]+)", re.DOTALL)
# Columns get other names here, because two columns of a statement can have the same name.
RUN = "SELECT * FROM {run}(%s, %s) AS t({columns})"
TYPES = "SELECT format_type(t, NULL) FROM unnest(%s::oid[]) WITH ORDINALITY u(t, n) ORDER BY n"
NAMES = ("dbname", "user", "password", "host", "port", "sslmode", "sslrootcert", "sslcert")
CONNECT_SECONDS = 5


class SqlRefused(ValkyrError):
    """The statement did not run, or PostgreSQL ended it with an error; the message says why."""

    code = "sql_refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlQuestion:
    """A statement, the IDs of the workspaces to read, and the maximum rows and seconds."""

    statement: str
    workspaces: Sequence[UUID]
    limit: int = 1000
    seconds: float = 30
    primary: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """The columns and rows, whether `more` rows exist, and whether the `replica` was read."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    more: bool
    replica: bool


def ask(asked: SqlQuestion) -> Answered:
    """Run the statement; return the answer, with at most `limit` rows. Raises SqlRefused."""
    text = _checked(asked.statement)
    with _session(asked.primary) as (session, replica):
        try:
            _prepare(session, asked)
            columns = _described(session, text)
            rows = _run(session, text, asked.limit + 1, columns)
        except psycopg.Error as error:
            raise SqlRefused(_explained(error, text, asked)) from error
    names = [name for name, _ in columns]
    return Answered(names, rows[: asked.limit], len(rows) > asked.limit, replica)


def _described(session: psycopg.Connection[Any], text: str) -> list[tuple[str, str]]:
    """Return the names and types of the statement's columns, without running the statement.

    Raises SqlRefused if there are no columns, and PostgreSQL's errors.
    """
    encoding = session.info.encoding
    found = session.pgconn.prepare(b"", text.encode())
    if found.status == ExecStatus.COMMAND_OK:
        found = session.pgconn.describe_prepared(b"")
    if found.status != ExecStatus.COMMAND_OK:
        raise psycopg.errors.error_from_result(found, encoding)
    columns = range(found.nfields)
    names = [(found.fname(n) or b"").decode(encoding) for n in columns]
    types = session.execute(TYPES, [[found.ftype(n) for n in columns]])
    if not names:
        raise SqlRefused("The statement returns no columns.")
    return [(name, kind) for name, (kind,) in zip(names, types, strict=True)]


def _run(
    session: psycopg.Connection[Any], text: str, most: int, columns: list[tuple[str, str]]
) -> list[tuple[Any, ...]]:
    declared = ", ".join(f"c{number} {kind}" for number, (_, kind) in enumerate(columns))
    query = sql.SQL(RUN).format(
        run=sql.Identifier(schema(), RUNNER),
        columns=sql.SQL(declared),  # types in PostgreSQL's notation
    )
    return session.execute(query, [text, most]).fetchall()


def _prepare(session: psycopg.Connection[Any], asked: SqlQuestion) -> None:
    """Begin a read-only transaction with the limits and the role.

    After the transaction's first query, no statement can make the transaction read-write.
    """
    session.execute("SET TRANSACTION READ ONLY")
    limits = {
        "statement_timeout": f"{round(asked.seconds * 1000)}ms",
        "lock_timeout": "3s",
        "search_path": sql.Identifier(schema()).as_string(session),
        CHOSEN: f"{{{','.join(map(str, asked.workspaces))}}}",
        "role": reader(),
    }
    for name, value in limits.items():
        session.execute("SELECT set_config(%s, %s, true)", [name, value])


@contextmanager
def _session(primary: bool) -> Iterator[tuple[psycopg.Connection[Any], bool]]:
    """Yield a session, and whether it is on the replica.

    The session is on the primary if `primary` is set, or if no replica answers. Raises SqlRefused.
    """
    session = None
    if REPLICA in connections.settings and not primary:
        try:
            session = _connected(REPLICA)
        except psycopg.OperationalError:
            session = None
    replica = session is not None
    try:
        session = session or _connected(alias())
    except psycopg.OperationalError as error:
        raise SqlRefused(f"PostgreSQL does not answer: {str(error).strip()}") from error
    # End the transaction, because PgBouncer drops a connection whose client leaves inside one.
    with session:
        yield session, replica


def _connected(name: str) -> psycopg.Connection[Any]:
    given = connections[name].get_connection_params()
    parts = {key: given[key] for key in NAMES if given.get(key)}
    # Prepare no statements: behind a pooler, another session could serve the next transaction.
    return psycopg.connect(
        **parts,
        application_name="valkyr_sql",
        connect_timeout=CONNECT_SECONDS,
        prepare_threshold=None,
    )


def _checked(statement: str) -> str:
    """Return the statement without a final `;`. Raises SqlRefused unless it begins like a query."""
    found = FIRST_WORD.match(statement)
    if found is None:
        raise SqlRefused("There is no statement; expected one such as SELECT * FROM workflows.")
    if (first := found[1].upper()) not in READING:
        raise SqlRefused(
            f"{first} is refused: this command only reads. Expected {', '.join(sorted(READING))}."
        )
    return statement.strip().removesuffix(";")


def _explained(error: psycopg.Error, text: str, asked: SqlQuestion) -> str:
    """Return PostgreSQL's message, the position of the error, and what to do."""
    lines = [str(error.diag.message_primary or error).strip()]
    if "multiple commands" in lines[0]:
        return "There are several statements; expected one. Run them one after another."
    if position := error.diag.statement_position or error.diag.internal_position:
        lines += _place(text, int(position))
    if error.diag.message_hint:
        lines.append(f"Hint: {error.diag.message_hint}")
    lines += [advice for kinds, advice in _advice(asked) if isinstance(error, kinds)]
    return "\n".join(lines)


def _place(text: str, position: int) -> Sequence[str]:
    """Return the line that contains the error, and a line that marks its column."""
    before = text[: position - 1]
    line = before.count("\n")
    column = position - 1 - (before.rfind("\n") + 1)
    label = f"line {line + 1}: "
    return [f"{label}{text.splitlines()[line] if text else ''}", " " * (len(label) + column) + "^"]


def _advice(asked: SqlQuestion) -> Iterator[tuple[Any, str]]:
    errors = psycopg.errors
    names = ", ".join(view.name for view in views())
    yield (
        errors.QueryCanceled,
        f"The time-out is {asked.seconds:g} s. Read a shorter range of time, or set --timeout.",
    )
    yield (
        (errors.UndefinedTable, errors.InsufficientPrivilege),
        f"The views are {names}. --list shows their columns.",
    )
    yield (
        errors.InvalidTableDefinition,
        "PostgreSQL cannot return a column of this type; cast it, as in `column::text`.",
    )
    yield errors.UndefinedColumn, "--list shows the columns of each view."
    yield errors.ReadOnlySqlTransaction, "This command only reads."
    yield (
        (errors.InvalidParameterValue, errors.UndefinedObject, errors.InvalidSchemaName),
        "If the message names the role of the views, run `manage.py valkyr_views install`.",
    )
