"""Outages: find the process that executes a step now, and kill or disconnect what it needs."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.database.clock import database_now
from tests.support.modules import marks
from tests.support.waiting import wait_until
from tests.support.workflows import describe
from valkyr_project.embedded import Redis


def marks_of(execution_id: UUID, step: str) -> list[dict[str, Any]]:
    """Return the marks that one step left, in order."""
    return [mark for mark in marks(execution_id) if mark["step"] == step]


def wait_for_mark(
    execution_id: UUID, step: str = "work.main", number: int = 1, seconds: float = 30
) -> dict[str, Any]:
    """Wait for the step's mark with that number, and return it."""
    wait_until(
        lambda: len(marks_of(execution_id, step)) >= number,
        seconds,
        f"mark {number} of {step}",
        lambda: describe([execution_id]),
    )
    return marks_of(execution_id, step)[number - 1]


def kill(pid: int) -> datetime:
    """Kill a process with SIGKILL; return the database's time just before."""
    at = database_now()
    os.kill(pid, signal.SIGKILL)
    return at


@contextmanager
def redis_away(server: Redis) -> Iterator[None]:
    """Kill Redis, and start it at its address after the block: every message is lost."""
    url = server.url
    os.kill(server.pid, signal.SIGKILL)
    wait_until(lambda: not server.alive(), 10, "the end of Redis")
    yield
    server.launch()
    server.wait()
    assert server.url == url, "its port was taken meanwhile"
