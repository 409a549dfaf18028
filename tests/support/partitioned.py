"""The runs' table partitioned by time, in the test database."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, timedelta
from uuid import UUID

from django.db import connection

from executions.database.clock import database_now, first_id_at
from runners.partitions import switching, upkeep
from runners.partitions.layout import layout
from runners.partitions.short_locks import ATTEMPTS


@contextmanager
def partitioned(days: int = 1) -> Iterator[None]:
    """Partition the table, with future partitions; convert it back at the end."""
    assert switching.turn_on(days)
    upkeep.add_ahead(attempts=ATTEMPTS)
    try:
        yield
    finally:
        switching.turn_off()


def begin_in_the_past(days: int) -> None:
    """Replace the partitions of an empty table by daily ones that begin `days` days ago."""
    today = database_now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM runners_run")
        assert cursor.fetchone() == (0,)
        for one in layout().ranges:
            cursor.execute(f"DROP TABLE {one.name}")
    for day in range(-days, 3):
        upkeep.add(today + timedelta(days=day), today + timedelta(days=day + 1))


def id_of_day(days: float) -> UUID:
    """Return an id that is `days` days old."""
    at = first_id_at(database_now() - timedelta(days=days))
    return UUID(int=at.int | secrets.randbits(62))
