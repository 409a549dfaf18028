"""The parts of an installation; the parts in one database are checked in one session.

A process that handles requests needs `database`, `broker` and `migrations` itself. Without
`workers` and `beat` it still accepts executions and loses none, so removing it from the load
balancer would not help. Each cell has its own parts, such as `b:database`, but shares the broker.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import psycopg
from django.db.migrations.loader import MigrationLoader

from executions import messaging
from executions.configuration import settings
from executions.database.connections import SECONDS


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """The health of a part; `found`, `expected` and `do` are for the operator."""

    well: bool
    found: str
    expected: str
    do: str = ""


def silent(seconds: float) -> HealthFinding:
    """Return the finding for a part that did not respond in time."""
    return HealthFinding(
        False,
        f"no answer within {seconds:g} s",
        "an answer",
        "Check that it runs and can be reached from here. See its log.",
    )


Session = psycopg.Connection[Any]
Check = Callable[[Session], HealthFinding]

NEEDED = ("database", "broker", "migrations")


def database(session: Session) -> HealthFinding:
    """Check that the database responds."""
    session.execute("SELECT 1")
    return HealthFinding(True, "it answers", "it answers")


def migrations(session: Session) -> HealthFinding:
    """Check that all migrations of this code are applied.

    Applied migrations of newer code are ignored.
    """
    try:
        rows = session.execute("SELECT app, name FROM django_migrations").fetchall()
    except psycopg.errors.UndefinedTable:
        rows = []
    missing = sorted(known_migrations() - set(rows))
    if not missing:
        return HealthFinding(True, "all are applied", "all are applied")
    app, name = missing[0]
    return HealthFinding(
        False,
        f"{len(missing)} not applied, the first of them {app}.{name}",
        "all are applied",
        "Run `manage.py migrate` with this version of the code.",
    )


def broker() -> HealthFinding:
    """Check that the broker accepts a connection."""
    app = messaging.celery_app()
    # Of several servers (amqp://a//;amqp://b//), any one is enough.
    servers = messaging.broker_url().count(";") + 1
    each = SECONDS / servers
    options = {"socket_connect_timeout": each, "socket_timeout": each}
    if not messaging.is_redis(messaging.broker_url()):
        options = {}
    with app.connection_for_write(connect_timeout=each, transport_options=options) as link:
        link.ensure_connection(max_retries=max(1, servers - 1), interval_start=0, timeout=SECONDS)
    return HealthFinding(True, "it answers", "it answers")


@cache
def known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of this code, as (app, name)."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    return frozenset(loader.graph.nodes)


SEEN: dict[str, Check] = {"database": database, "migrations": migrations}


def register(name: str, look: Check) -> None:
    """Add a part that is checked through the database."""
    SEEN[name] = look


def names() -> tuple[str, ...]:
    """Return the names of all parts; the parts that a process itself needs come first.

    The parts of cells come last: without them, a process still serves the other databases.
    """
    further = (of_cell(cell, name) for cell in cells() for name in SEEN)
    return (*NEEDED, *(name for name in SEEN if name not in NEEDED), *further)


def cells() -> tuple[str, ...]:
    """Return the cells whose parts this process also checks; () in a process of one cell."""
    known = settings()
    return () if known.cell else known.cells


def of_cell(cell: str, name: str) -> str:
    """Return the name of a cell's part, such as `b:database`; `name` itself for the cell ""."""
    return f"{cell}{messaging.OF_CELL}{name}" if cell else name
