"""A connection's waits end after the limit, and only those."""

import os

import psycopg
import pytest
from psycopg import OperationalError

from executions.vendor_seams.psycopg_wait_limit import limit_waits


class Limit:
    """The limit of the next waits, and the limits that were reached."""

    def __init__(self) -> None:
        """Start without a limit."""
        self.seconds: float | None = None
        self.reached: list[float] = []

    def __call__(self) -> float | None:
        """Return the limit."""
        return self.seconds


def test_a_wait_without_a_limit_takes_as_long_as_the_statement() -> None:
    limit = Limit()
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        limit_waits(connection, limit, limit.reached.append)

        assert connection.execute("SELECT 1 FROM pg_sleep(0.2)").fetchone() == (1,)
    assert limit.reached == []


def test_a_wait_that_reaches_the_limit_closes_the_connection() -> None:
    limit = Limit()
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        limit_waits(connection, limit, limit.reached.append)
        limit_waits(connection, limit, limit.reached.append)  # from a pool: once is enough
        limit.seconds = 0.1
        with pytest.raises(OperationalError):
            connection.execute("SELECT pg_sleep(20)")

        assert connection.closed
    assert limit.reached == [0.1]


def test_an_error_of_the_server_in_a_pipeline_is_not_a_reached_limit() -> None:
    limit = Limit()
    limit.seconds = 20
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        limit_waits(connection, limit, limit.reached.append)
        connection.execute("SET statement_timeout = 50")
        with connection.pipeline():
            slow = connection.execute("SELECT pg_sleep(20)")
            with pytest.raises(psycopg.errors.QueryCanceled):
                slow.fetchone()

        assert not connection.closed
    assert limit.reached == []


def test_an_error_of_the_server_is_not_a_reached_limit() -> None:
    limit = Limit()
    limit.seconds = 20
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        limit_waits(connection, limit, limit.reached.append)
        connection.execute("SET statement_timeout = 50")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT pg_sleep(20)")

        assert not connection.closed
    assert limit.reached == []
