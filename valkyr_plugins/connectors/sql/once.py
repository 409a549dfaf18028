"""Exactly once: a step's key and result, kept in the target database with what the step did there.

The key is inserted first, in the step's own transaction. Another attempt of the same step waits
at it until this one ends: after a commit it finds the result, after a roll-back it goes on itself.
"""

from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DBAPIError

from runners.public.modules import StepContext
from valkyr_plugins.connectors.sql.database import Database
from valkyr_plugins.connectors.sql.engines import connected
from valkyr_plugins.connectors.sql.limits import limit_time, seconds_left

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
# Two steps that make it at once collide in the catalogue; it is there then.
MADE_MEANWHILE = frozenset({"42P07", "23505", "42710"})


def make_table(database: Database, ctx: StepContext) -> None:
    """Make the table where it is missing, in a transaction of its own."""
    try:
        with connected(database, seconds_left(ctx), read_only=False) as connection:
            limit_time(connection, ctx)
            if not connection.execute(TABLE).scalar():
                connection.execute(CREATE)
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in MADE_MEANWHILE:
            raise


def begin(connection: Connection, key: str) -> dict[str, Any] | None:
    """Take the key, or give the result of the attempt that had it before."""
    if connection.execute(BEGIN, {"key": key}).rowcount:
        return None
    found: Any = connection.execute(EARLIER, {"key": key}).scalar()
    return dict(found or {})


def note(connection: Connection, key: str, result: dict[str, Any]) -> None:
    """Keep the result beside the key."""
    connection.execute(NOTE, {"key": key, "result": result})
