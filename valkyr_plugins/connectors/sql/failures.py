"""What a failure of a database means, in a message that holds no parameter and no password."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from runners.public.modules import ErrorType, StepError, error_type_of
from valkyr_plugins.connectors.sql.database import Database

READ_ONLY = "25006"
SEVERAL = "42601"
# The server's last words before it lets anybody in come without an SQLSTATE.
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
    """Make of every error of the database in the block a StepError."""
    try:
        yield
    except PoolTimeout as error:
        raise StepError(
            f"{database.label}: every connection of this worker is in use", ErrorType.TRANSIENT
        ) from error
    except DBAPIError as error:
        raise _failure(error, database, read_only) from error
    except SQLAlchemyError as error:
        # Its own text holds the statement, which is no secret, and no parameters.
        raise StepError(f"{database.label}: {str(error)[:500]}") from error


def _failure(error: DBAPIError, database: Database, read_only: bool) -> StepError:
    original: Any = error.orig
    state = getattr(original, "sqlstate", None)
    diagnosis = getattr(original, "diag", None)
    said = getattr(diagnosis, "message_primary", None) or _first_line(original)
    if state == READ_ONLY and read_only:
        return StepError(f"{database.label}: sql.query only reads ({said}): use sql.execute")
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
