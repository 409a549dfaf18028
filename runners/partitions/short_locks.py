"""Transactions that change tables while workers run.

A statement that waits for an exclusive lock on a table blocks all later statements on the table. A
statement here therefore waits for at most half a second. After a lock timeout or a deadlock, the
transaction is repeated, up to a maximum number of attempts.
"""

import random
import time
from collections.abc import Callable
from typing import Any

from django.db import OperationalError

from executions.database import connection, transaction
from executions.database.time_limits import is_locked
from executions.errors import ValkyrError

WAIT = "500ms"
ATTEMPTS = 120
PAUSE_SECONDS = 0.25


class TableBusy(ValkyrError):
    """The tables were in use during all attempts, or a partition has too many executions again."""

    code = "table_busy"


def in_short_locks(
    change: Callable[[Any], None], *, seconds: float = 60, attempts: int = ATTEMPTS
) -> None:
    """Call `change` with a cursor in a transaction; retry after a lock timeout or a deadlock.

    `seconds` limits the time of each statement; 0 means no limit. Raises TableBusy after the last
    attempt.
    """
    for attempt in range(attempts):
        if attempt:
            time.sleep(PAUSE_SECONDS * (0.5 + random.random()))  # noqa: S311 - spreads attempts
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{WAIT}'")
                cursor.execute(f"SET LOCAL statement_timeout = '{round(seconds * 1000)}ms'")
                change(cursor)
            return
        except OperationalError as error:
            if not is_locked(error):
                raise
    raise TableBusy(
        f"The runs' table was in use in each of {attempts} attempts of {WAIT}. Find the long "
        "transaction (docs/explanation/scaling.md, tables and indexes), then repeat the command."
    )
