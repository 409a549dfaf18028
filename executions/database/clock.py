"""One clock: the recorded times of events are the database's `clock_timestamp()`."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import BigIntegerField, DateTimeField, Func

from executions.database.routing import connection


class ClockTimestamp(Func):
    """The time of PostgreSQL's clock when the value is evaluated, not when the statement began."""

    template = "clock_timestamp()"
    output_field = DateTimeField()


class CurrentTransaction(Func):
    """The 64-bit ID of the current transaction; it never repeats on one server."""

    template = "(pg_current_xact_id()::text::bigint)"
    output_field = BigIntegerField()


class Deadline(Func):
    """The database's time plus a number of seconds (a column or value); NULL if that is NULL."""

    template = "clock_timestamp() + (%(expressions)s) * interval '1 second'"
    output_field = DateTimeField()


def database_now() -> datetime:
    """Return the database's time, in one round trip."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        row = cursor.fetchone()
    assert row is not None
    return row[0]  # type: ignore[no-any-return]


def first_id_at(at: datetime, apart: timedelta = timedelta(0)) -> UUID:
    """Return the smallest UUIDv7 for the time `at` + `apart`, as the bound of a range of keys.

    For a time before 1970, return the smallest possible UUIDv7.
    """
    milliseconds = max(0, int((at.timestamp() + apart.total_seconds()) * 1_000))
    return UUID(int=(milliseconds << 80) | (0x7 << 76) | (0b10 << 62))
