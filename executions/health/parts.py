"""The parts of an installation; those that are seen in the database share one session to it.

`database`, `broker` and `migrations` are what a process that answers requests needs itself; without
`workers` and `beat` it still takes orders and loses none, so taking it away would help nobody.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import psycopg
from django.db.migrations.loader import MigrationLoader

from executions import messaging
from executions.database import connection

# What was found of one part, in words that say what to do.


@dataclass(frozen=True, slots=True)
class HealthFinding:
    """Whether a part is well; `found`, `expected` and `do` are for who runs the installation."""

    well: bool
    found: str
    expected: str
    do: str = ""


def silent(seconds: float) -> HealthFinding:
    """The finding of a part that gave no answer in time."""
    return HealthFinding(
        False,
        f"no answer within {seconds:g} s",
        "an answer",
        "Is it running, and reachable from here? Its own log says more.",
    )


Session = psycopg.Connection[Any]
Check = Callable[[Session], HealthFinding]

NEEDED = ("database", "broker", "migrations")
SECONDS = 2  # the least that libpq takes for a connect time-out


def open_session() -> Session:
    """A session of our own: a kept connection to a frozen server would wait for ever."""
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    parts = {name: given[name] for name in names if given.get(name)}
    session = psycopg.connect(**parts, connect_timeout=SECONDS, autocommit=True)
    session.execute(f"SET statement_timeout = {SECONDS * 1_000}")
    return session


def database(session: Session) -> HealthFinding:
    """That it answers, since there is a session."""
    session.execute("SELECT 1")
    return HealthFinding(True, "it answers", "it answers")


def migrations(session: Session) -> HealthFinding:
    """That every migration of this code was applied; newer ones of other code do no harm."""
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
    """That it takes a connection."""
    app = messaging.celery_app()
    # Of several servers (amqp://a//;amqp://b//) one is enough, whichever it is.
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
    """The migrations of this code, as (app, name)."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    return frozenset(loader.graph.nodes)


SEEN: dict[str, Check] = {"database": database, "migrations": migrations}


def register(name: str, look: Check) -> None:
    """Add a part that is seen in the database."""
    SEEN[name] = look


def names() -> tuple[str, ...]:
    """All parts, those that a process needs itself first."""
    return (*NEEDED, *(name for name in SEEN if name not in NEEDED))
