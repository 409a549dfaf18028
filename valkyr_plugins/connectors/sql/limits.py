"""The database ends a statement with the step's time, also where nobody listens any more."""

from sqlalchemy import text
from sqlalchemy.engine import Connection

from runners.public.modules import ErrorType, StepContext, StepError

IDLE_SECONDS = 60  # a worker that froze in a transaction holds its locks no longer


def seconds_left(ctx: StepContext) -> float:
    """Seconds until a little before the step's end, which could not tell what took so long."""
    seconds = ctx.remaining()
    seconds -= min(0.2, seconds * 0.05)
    if seconds <= 0:
        raise StepError("the step's time was over", ErrorType.TIMEOUT)
    return seconds


def limit_time(connection: Connection, ctx: StepContext) -> None:
    """Let statements of this transaction take what is left of the step's time."""
    milliseconds = max(1, int(1000 * seconds_left(ctx)))
    connection.execute(text(f"SET LOCAL statement_timeout = {milliseconds}"))
    connection.execute(
        text(f"SET LOCAL idle_in_transaction_session_timeout = {1000 * IDLE_SECONDS}")
    )
