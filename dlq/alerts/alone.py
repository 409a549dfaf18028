"""One at a time, in the whole installation: by an advisory lock that a dead process frees."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# Any constants will do; they name the jobs among all sessions of one database.
SENDING = 7_263_544_421
WATCHING = 7_263_544_422


@contextmanager
def alone(job: int) -> Iterator[bool]:
    """Whether nobody else does this job now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [job])
        row = cursor.fetchone()
    held = bool(row and row[0])
    try:
        yield held
    finally:
        if held and connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [job])
