"""A pool checks a connection with a round trip only when a check is due."""

import os
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from executions.vendor_seams import psycopg_pool_check


def _pool() -> Any:
    return ConnectionPool(
        os.environ["DATABASE_URL"],
        kwargs={"autocommit": True},
        min_size=0,
        max_size=1,
        open=True,
        check=ConnectionPool.check_connection,
        **psycopg_pool_check.OPTIONS,
    )


def _sent(pool: Any, trace: Path) -> int:
    """Return the number of messages to the server while a connection is taken and returned."""
    with trace.open("w") as file:
        with pool.connection() as connection:
            connection.pgconn.trace(file.fileno())
        with pool.connection() as connection:
            connection.pgconn.untrace()
    return sum(line.split("\t")[1] == "F" for line in trace.read_text().splitlines())


def test_a_connection_that_answered_just_now_is_not_asked_again(tmp_path: Path) -> None:
    with _pool() as pool:
        with pool.connection():
            pass  # new: the pool sends no check
        with pool.connection():
            pass  # checked for the first time

        assert _sent(pool, tmp_path / "trace") == 0


def test_a_connection_that_answered_long_ago_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _pool() as pool:
        with pool.connection():
            pass
        monkeypatch.setattr(psycopg_pool_check, "TRUSTED_SECONDS", 0.0)

        assert _sent(pool, tmp_path / "trace") > 0, (
            "the pool's check does not call execute any more: see "
            "executions/vendor_seams/psycopg_pool_check.py"
        )


def test_a_session_that_the_server_ended_is_not_given_out() -> None:
    with _pool() as pool:
        for _ in range(2):
            with pool.connection() as connection:
                first = connection.info.backend_pid
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 5000)", [first])

        with pool.connection() as connection:
            row = connection.execute("SELECT 1").fetchone()

        assert row == (1,)
        assert connection.info.backend_pid != first
