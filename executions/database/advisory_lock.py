"""One at a time in the whole installation: by an advisory lock that a dead process frees.

A lock belongs to a session. A pooler gives each statement another one, so where one stands before
the database (`DATABASE_DIRECT_URL`) the lock is taken past it, on a session as short as the job.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.conf import settings
from django.db import connection

from executions.database.advisory_locks import AdvisoryLock

TAKE = "SELECT pg_try_advisory_lock(%s)"
FREE = "SELECT pg_advisory_unlock(%s)"
CONNECT_SECONDS = 5


@contextmanager
def alone(job: AdvisoryLock) -> Iterator[bool]:
    """Whether nobody else does this job now; nobody begins it before the end."""
    direct = str(settings.DATABASE_DIRECT_URL or "")
    with _past_the_pooler(direct, job) if direct else _on_our_session(job) as held:
        yield held


@contextmanager
def _past_the_pooler(url: str, job: AdvisoryLock) -> Iterator[bool]:
    with psycopg.connect(url, autocommit=True, connect_timeout=CONNECT_SECONDS) as session:
        row = session.execute(TAKE, [job]).fetchone()
        yield bool(row and row[0])


@contextmanager
def _on_our_session(job: AdvisoryLock) -> Iterator[bool]:
    with connection.cursor() as cursor:
        cursor.execute(TAKE, [job])
        row = cursor.fetchone()
    held = bool(row and row[0])
    try:
        yield held
    finally:
        if held and connection.connection is not None and not connection.connection.closed:
            with connection.cursor() as cursor:
                cursor.execute(FREE, [job])
