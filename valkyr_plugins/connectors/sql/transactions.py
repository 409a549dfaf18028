"""Read rows in batches of 100, or write in one transaction and, if requested, exactly once."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from sqlalchemy import CursorResult, bindparam, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from runners.public.modules import ErrorType, StepContext, StepError, error_type_of
from valkyr_plugins.connectors.sql.database import Database, database_of
from valkyr_plugins.connectors.sql.engines import connected
from valkyr_plugins.connectors.sql.statement import (
    STREAMED,
    Rows,
    bound,
    require_a_steps,
    require_reading,
)

# Convert errors of a database to messages without parameters or passwords.


READ_ONLY = "25006"
SEVERAL = "42601"
# Errors before a session begins. They have no SQLSTATE.
REFUSALS = (
    "authentication failed",
    "does not exist",
    "no pg_hba.conf entry",
    "certificate verify failed",
    "does not support SSL",
    "no password supplied",
    "authentication method requirement",
)


@contextmanager
def told(database: Database, *, read_only: bool = False) -> Iterator[None]:
    """Convert every error of the database in the block to a StepError."""
    try:
        yield
    except PoolTimeout as error:
        raise StepError(
            f"{database.label}: all connections of this worker are in use", ErrorType.TRANSIENT
        ) from error
    except DBAPIError as error:
        raise _failure(error, database, read_only) from error
    except SQLAlchemyError as error:
        # The error's own text contains the statement, which is not secret, but no parameters.
        raise StepError(f"{database.label}: {str(error)[:500]}") from error


def _failure(error: DBAPIError, database: Database, read_only: bool) -> StepError:
    original: Any = error.orig
    state = getattr(original, "sqlstate", None)
    diagnosis = getattr(original, "diag", None)
    said = getattr(diagnosis, "message_primary", None) or _first_line(original)
    if state == READ_ONLY and read_only:
        return StepError(f"{database.label}: sql.query can only read ({said}): use sql.execute")
    kind = error_type_of(error)
    if state is None and any(refusal in str(original) for refusal in REFUSALS):
        kind = ErrorType.PERMANENT
    constraint = getattr(diagnosis, "constraint_name", None)
    more = f" (constraint {constraint})" if constraint else ""
    return StepError(
        f"{database.label}: {type(original).__name__}"
        f"{f' {state}' if state else ''}: {said[:500]}{more}",
        kind,
        details={"sqlstate": state} if state else None,
    )


def _first_line(original: Any) -> str:
    lines = [line.strip() for line in str(original).splitlines() if line.strip()]
    return lines[0] if lines else ""


# The database ends a statement at the step's timeout, even if the client has disappeared.


IDLE_SECONDS = 60  # after this time, a worker that froze in a transaction loses its locks


def seconds_left(ctx: StepContext) -> float:
    """Return the seconds until just before the timeout. Raises StepError if none are left."""
    seconds = ctx.remaining()
    seconds -= min(0.2, seconds * 0.05)
    if seconds <= 0:
        raise StepError("the step's time was over", ErrorType.TIMEOUT)
    return seconds


def limit_time(connection: Connection, ctx: StepContext) -> None:
    """Limit this transaction's statements to the step's remaining time. Raises StepError."""
    milliseconds = max(1, int(1000 * seconds_left(ctx)))
    connection.execute(text(f"SET LOCAL statement_timeout = {milliseconds}"))
    connection.execute(
        text(f"SET LOCAL idle_in_transaction_session_timeout = {1000 * IDLE_SECONDS}")
    )


# Run a step exactly once: store its key and result in the target database with its changes.
#
# The key is inserted first, in the step's own transaction. Another attempt of the same step waits
# until this transaction ends. After a commit, that attempt finds the result; after a roll-back, it
# runs the step itself.


TABLE = text("SELECT to_regclass('valkyr_effects') IS NOT NULL")
CREATE = text(
    "CREATE TABLE IF NOT EXISTS valkyr_effects ("
    "key text PRIMARY KEY, result jsonb, at timestamptz NOT NULL DEFAULT now())"
)
BEGIN = text("INSERT INTO valkyr_effects (key) VALUES (:key) ON CONFLICT (key) DO NOTHING")
EARLIER = text("SELECT result FROM valkyr_effects WHERE key = :key")
NOTE = text("UPDATE valkyr_effects SET result = :result WHERE key = :key").bindparams(
    bindparam("result", type_=JSONB)
)
# SQLSTATEs if two steps create the table at once. The table then exists.
MADE_MEANWHILE = frozenset({"42P07", "23505", "42710"})


def make_table(database: Database, ctx: StepContext) -> None:
    """Create the table for the keys of `once`, if it is missing, in a separate transaction."""
    try:
        with connected(database, seconds_left(ctx), read_only=False) as connection:
            limit_time(connection, ctx)
            if not connection.execute(TABLE).scalar():
                connection.execute(CREATE)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in MADE_MEANWHILE:
            raise


def begin_once(connection: Connection, key: str) -> dict[str, Any] | None:
    """Insert the key and return None; if the key exists, return the result stored with the key."""
    if connection.execute(BEGIN, {"key": key}).rowcount:
        return None
    found: Any = connection.execute(EARLIER, {"key": key}).scalar()
    return dict(found or {})


def note_result(connection: Connection, key: str, result: dict[str, Any]) -> None:
    """Store the result with `key`, which `begin_once` inserted."""
    connection.execute(NOTE, {"key": key, "result": result})


AT_ONCE = 100


def read(statement: str, params: Mapping[str, Any], most: int, ctx: StepContext) -> Rows:
    """Return the rows of a statement that reads. Raises StepError."""
    database = database_of(ctx.credential)
    word = require_reading(statement)
    clause = bound(statement, [params])
    with (
        told(database, read_only=True),
        connected(database, seconds_left(ctx), read_only=True) as connection,
    ):
        limit_time(connection, ctx)
        streamed = {"stream_results": True, "yield_per": AT_ONCE} if word in STREAMED else {}
        result = connection.execute(clause, dict(params), execution_options=streamed)
        with closing(result):
            return _kept(result, most, ctx)


def _kept(result: CursorResult[Any], most: int, ctx: StepContext) -> Rows:
    if not result.returns_rows:
        raise StepError("the statement returns no rows")
    found = Rows(list(result.keys()), most)
    for part in result.partitions(AT_ONCE):
        found.add(part)
        if ctx.cancelled():
            raise StepError("the execution was cancelled while rows were read")
    return found


# Run statements in one transaction, and store the result in it if they may run only once.


Params = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Work = Sequence[tuple[str, Params]]


def write(work: Work, ctx: StepContext, *, once: bool, most: int) -> dict[str, Any]:
    """Run all statements or none; return `SqlExecuteOutputs` as a mapping. Raises StepError."""
    database = database_of(ctx.credential)
    for statement, _ in work:
        require_a_steps(statement)
    with told(database):
        if once:
            make_table(database, ctx)
        with connected(database, seconds_left(ctx), read_only=False) as connection:
            limit_time(connection, ctx)
            if not once:
                return _done(connection, work, ctx, most)
            earlier = begin_once(connection, ctx.idempotency_key)
            if earlier is not None:
                return earlier | {"repeated": True}
            done = _done(connection, work, ctx, most)
            note_result(connection, ctx.idempotency_key, done)
            return done


def _done(connection: Connection, work: Work, ctx: StepContext, most: int) -> dict[str, Any]:
    results = []
    for number, (statement, params) in enumerate(work):
        if number:
            limit_time(connection, ctx)
        results.append(_one(connection, statement, params, most))
    return {
        "rowCount": sum(result["rowCount"] or 0 for result in results),
        "results": results,
        "repeated": False,
    }


def _one(connection: Connection, statement: str, params: Params, most: int) -> dict[str, Any]:
    several = not isinstance(params, Mapping)
    sets = [dict(one) for one in ([params] if isinstance(params, Mapping) else params)]
    clause = bound(statement, sets)
    if several and not sets:
        return {"rowCount": 0, "rows": []}
    result = connection.execute(
        clause, sets if several else sets[0], execution_options={"preserve_rowcount": True}
    )
    rows: list[dict[str, Any]] = []
    with closing(result):
        if result.returns_rows:
            kept = Rows(list(result.keys()), most)
            kept.add(result)
            rows = kept.rows
        count = result.rowcount
    return {"rowCount": count if count >= 0 else None, "rows": rows}
