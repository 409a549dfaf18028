"""A pool whose database rejects connections: waiting callers get an error, later ones are
served.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from executions.vendor_seams import psycopg_reconnect
from valkyr_project.embedded.child import free_port

PATIENCE = 20  # as in settings


def _wait(pool: ConnectionPool) -> float:
    begun = time.monotonic()
    with pytest.raises(psycopg.OperationalError), pool.connection():
        pass
    return time.monotonic() - begun


def test_all_that_wait_are_told_long_before_the_pools_time_out() -> None:
    nobody = f"postgres://x@127.0.0.1:{free_port()}/x"
    with (
        ConnectionPool(
            nobody, min_size=0, max_size=2, timeout=PATIENCE, open=True, **psycopg_reconnect.OPTIONS
        ) as pool,
        ThreadPoolExecutor(5) as threads,
    ):
        waited = list(threads.map(lambda _: _wait(pool), range(5)))

    assert max(waited) < PATIENCE / 2


def test_the_next_one_is_served_once_the_database_is_back() -> None:
    kwargs = {"conninfo": f"postgres://x@127.0.0.1:{free_port()}/x"}
    with ConnectionPool(min_size=0, max_size=2, timeout=PATIENCE, open=True, **kwargs,
                        **psycopg_reconnect.OPTIONS) as pool:  # fmt: skip
        _wait(pool)
        pool.conninfo = os.environ["DATABASE_URL"]

        with pool.connection() as connection:
            row = connection.execute("SELECT 1").fetchone()

    assert row == (1,)


def test_a_pool_keeps_its_waiting_clients_behind_its_lock() -> None:
    pool = ConnectionPool(min_size=0, max_size=1, open=False)

    assert list(pool._waiting) == [], "see executions/vendor_seams/psycopg_reconnect.py"
    assert pool._lock.acquire(blocking=False), "see executions/vendor_seams/psycopg_reconnect.py"
