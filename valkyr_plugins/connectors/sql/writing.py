"""Runs statements in one transaction, and notes their result in it where they may run once only."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from sqlalchemy.engine import Connection

from runners.public.modules import StepContext
from valkyr_plugins.connectors.sql import once as effects
from valkyr_plugins.connectors.sql.database import database_of
from valkyr_plugins.connectors.sql.engines import connected
from valkyr_plugins.connectors.sql.failures import told
from valkyr_plugins.connectors.sql.limits import limit_time, seconds_left
from valkyr_plugins.connectors.sql.statement import bound, require_a_steps
from valkyr_plugins.connectors.sql.values import Rows

Params = Mapping[str, Any] | Sequence[Mapping[str, Any]]
Work = Sequence[tuple[str, Params]]


def write(work: Work, ctx: StepContext, *, once: bool, most: int) -> dict[str, Any]:
    """Do it all or nothing; `SqlExecuteOutputs` as a mapping. Raises StepError."""
    database = database_of(ctx.credential)
    for statement, _ in work:
        require_a_steps(statement)
    with told(database):
        if once:
            effects.make_table(database, ctx)
        with connected(database, seconds_left(ctx), read_only=False) as connection:
            limit_time(connection, ctx)
            if not once:
                return _done(connection, work, ctx, most)
            earlier = effects.begin(connection, ctx.idempotency_key)
            if earlier is not None:
                return earlier | {"repeated": True}
            done = _done(connection, work, ctx, most)
            effects.note(connection, ctx.idempotency_key, done)
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
