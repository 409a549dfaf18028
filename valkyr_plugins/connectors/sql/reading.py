"""Reads rows, a hundred at a time, so that no result fills the worker's memory."""

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from sqlalchemy import CursorResult

from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.sql.database import database_of
from valkyr_plugins.connectors.sql.engines import connected
from valkyr_plugins.connectors.sql.failures import told
from valkyr_plugins.connectors.sql.limits import limit_time, seconds_left
from valkyr_plugins.connectors.sql.statement import STREAMED, bound, require_reading
from valkyr_plugins.connectors.sql.values import Rows

AT_ONCE = 100


def read(statement: str, params: Mapping[str, Any], most: int, ctx: StepContext) -> Rows:
    """The rows of a statement that reads; raises StepError."""
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
        raise StepError("the statement gives no rows")
    found = Rows(list(result.keys()), most)
    for part in result.partitions(AT_ONCE):
        found.add(part)
        if ctx.cancelled():
            raise StepError("the execution was cancelled while rows were read")
    return found
