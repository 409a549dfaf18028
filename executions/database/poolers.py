"""Databases behind a pooler: direct addresses, and sessions that no pooler shares.

A pooler such as PgBouncer can use a different session for each transaction. Locks and settings of a
session therefore need the direct address. It is `VALKYR["DATABASE_DIRECT_URL"]` for the first
database, and the entry `DIRECT_URL` of a cell's database in DATABASES.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections

from executions import environment
from executions.configuration import settings as valkyr_settings
from executions.database.routing import alias, cell_of

DIRECT_URL = "DIRECT_URL"


def direct_url(of: str = "") -> str:
    """Return the direct address of an alias's database; "" if the database has no pooler.

    Without an alias, use this context's database.
    """
    of = of or alias()
    if cell_of(of):
        return str(connections[of].settings_dict.get(DIRECT_URL) or "")
    return valkyr_settings().database_direct_url


@contextmanager
def past_the_pooler(of: str) -> Iterator[None]:
    """In the block, connect this thread directly to the database of a cell that has a pooler."""
    url, connection = direct_url(of), connections[of]
    if not (cell_of(of) and url):
        yield
        return
    usual = connection.settings_dict
    given = environment.database(url)
    own: Any = given["OPTIONS"]
    options = {name: value for name, value in usual["OPTIONS"].items() if name != "pool"}
    connection.close()
    connection.settings_dict = {**usual, **given, "OPTIONS": {**options, **own}, DIRECT_URL: ""}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = usual
