"""Find the addresses of Valkyr's databases, and open separate sessions in the databases."""

from typing import Any
from urllib.parse import quote

import psycopg
from django.conf import settings as django_settings

from executions.database.poolers import direct_url
from executions.database.routing import aliases, connection

REPLICA = "replica"
SECONDS = 2  # the minimum connect timeout of libpq


def own_addresses() -> list[str]:
    """Return URLs of Valkyr's databases, of the replica and of the direct connections.

    The URLs of the databases contain only the host and the port. The direct URL of a database
    without a pooler is "".
    """
    own = (*aliases(), REPLICA)
    given = [django_settings.DATABASES[name] for name in own if name in django_settings.DATABASES]
    found = [
        f"postgres://{quote(str(one.get('HOST') or ''), safe='')}:{one.get('PORT') or 5432}"
        for one in given
        if "postgres" in str(one.get("ENGINE"))
    ]
    return [*found, *(direct_url(name) for name in aliases())]


def open_session() -> psycopg.Connection[Any]:
    """Return a new session; an existing connection to a frozen server can hang indefinitely.

    Raises psycopg's OperationalError if connecting fails or takes more than 2 s.
    """
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    parts = {name: given[name] for name in names if given.get(name)}
    session = psycopg.connect(**parts, connect_timeout=SECONDS, autocommit=True)
    session.execute(f"SET statement_timeout = {SECONDS * 1_000}")
    return session
