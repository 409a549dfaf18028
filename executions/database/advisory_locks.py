"""The numbers of PostgreSQL's advisory locks, and the functions that take these locks.

A number identifies one job in all sessions of a database. Two jobs with the same number would block
each other for no reason, so the numbers are an enumeration with distinct values.
"""

import enum
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from executions.database.poolers import direct_url
from executions.database.routing import connection


@enum.unique
class AdvisoryLock(enum.IntEnum):
    """One member per lock. Each member needs a different number; the numbers have no meaning."""

    BEAT_ELECTION = 7_263_544_401
    SWEEP_EVERY_SECOND = 7_263_544_402
    SWEEP_EVERY_FIVE_SECONDS = 7_263_544_403
    # The seed of a hash over the workspace, not a lock itself.
    REDRIVE_HOLDS = 7_263_544_404
    REDRIVE_DRIVER = 7_263_544_405
    FAILURE_GROUP_COUNTERS = 7_263_544_411
    ALERT_SENDING = 7_263_544_421
    ALERT_WATCHING = 7_263_544_422
    RETENTION = 7_263_544_424
    FIGURES_ROLLUP = 7_263_544_430
    MIGRATION = 7_263_544_431
    ROLLBACK_SETTLING = 7_263_544_432
    EXECUTION_MIGRATIONS = 7_263_544_433
    ARCHIVE = 7_263_544_434
    PARTITIONS = 7_263_544_435
    WORKSPACE_MOVE = 7_263_544_440
    WORKSPACE_WRITES = 7_263_544_441
    # The seed of a hash over the slug, not a lock itself.
    WORKSPACE_SLUGS = 7_263_544_436
    # The seed of a hash over the workspace, not a lock itself.
    MCP_PROPOSING = 7_263_544_437
    AUDIT_SEALING = 7_263_544_453
    SEALING_KEYS = 7_305_811_942_016_001


# Let one process of the installation run a job at a time, with an advisory lock that ends with the
# process.
#
# A lock belongs to a session. A pooler uses another session for each statement, so with a pooler
# (`direct_url`) the lock is taken directly, on a session that lasts as long as the job.


TAKE = "SELECT pg_try_advisory_lock(%s)"
FREE = "SELECT pg_advisory_unlock(%s)"
CONNECT_SECONDS = 5


@contextmanager
def alone(job: AdvisoryLock) -> Iterator[bool]:
    """Take the job's lock if it is free; yield whether this process holds it in the block."""
    direct = direct_url()
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


# Let one transaction run at a time for a subject, such as a workspace. The lock ends with the
# transaction.


HOLD = "SELECT pg_advisory_xact_lock(hashtextextended(%s, %s))"
TRY_TO_HOLD = "SELECT pg_try_advisory_xact_lock(hashtextextended(%s, %s))"


def hold(job: AdvisoryLock, subject: str) -> None:
    """Wait for the job's lock on a subject; the lock is held until this transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(HOLD, [subject, job])


def try_to_hold(job: AdvisoryLock, subject: str) -> bool:
    """Take the job's lock as `hold` does, but do not wait; return whether the lock was free."""
    with connection.cursor() as cursor:
        cursor.execute(TRY_TO_HOLD, [subject, job])
        row = cursor.fetchone()
    return bool(row and row[0])
