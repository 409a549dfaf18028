"""A worker is stopped with SIGSTOP in the middle of the transaction that completes an execution.

To stop it exactly there, the execution's row is locked until the worker waits for it. Then the
worker is stopped, and the lock is released. PostgreSQL gives the lock to a frozen client.
"""

import os
import signal
import time
from typing import Any
from uuid import UUID

import psutil
import psycopg
from django.conf import settings
from django.db import connection

from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.outages import wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start

# Its only step ends the execution: a transaction of several statements, under its lock.
DOCUMENT = {"tasks": [effect("work", seconds=1)]}
WAITING = """
SELECT client_port FROM pg_stat_activity
 WHERE wait_event_type = 'Lock' AND %s = ANY(pg_blocking_pids(pid))
"""
LOCK = "SELECT id FROM executions_workflowexecution WHERE id = %s FOR UPDATE"


def _session() -> psycopg.Connection[Any]:
    """Open a session without the engine's time limits, which would release the lock.

    The session waits a minute for a lock: if the lock is not released, the fault fails and the run
    continues.
    """
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    own = {name: given[name] for name in names if given.get(name)}
    return psycopg.connect(**own, options="-c lock_timeout=60000")


def _run(world: World) -> None:
    assert settings.DATABASES["default"]["OPTIONS"]["options"].count("idle_in_transaction") == 1
    workflow = publish(DOCUMENT)
    for _ in range(1 if world.quick else 4):
        execution = start(workflow)
        world.own([execution])
        mark = wait_for_mark(execution)
        _freeze(world, execution, mark["pid"])


def _freeze(world: World, execution: UUID, pid: int) -> None:
    with _session() as blocker:
        blocker.execute(LOCK, [execution])
        wait_until(lambda: _waits(blocker, pid), 20, "the worker at the execution's lock")
        os.kill(pid, signal.SIGSTOP)
        world.injected("SIGSTOP in the completing transaction")
        try:
            blocker.commit()
            freed = time.monotonic()
            blocker.execute(LOCK, [execution])  # behind the frozen one
            world.recovered("its lock was free again", time.monotonic() - freed)
            blocker.commit()
        finally:
            os.kill(pid, signal.SIGCONT)


def _waits(blocker: psycopg.Connection[Any], pid: int) -> bool:
    """Return whether that process waits for a lock that the blocker holds."""
    with connection.cursor() as cursor:
        cursor.execute(WAITING, [blocker.info.backend_pid])
        ports = {row[0] for row in cursor.fetchall()}
    own = {one.laddr.port for one in psutil.Process(pid).net_connections() if one.laddr}
    return bool(ports & own)


TRANSACTION = Fault(
    "transaction",
    "a worker frozen (SIGSTOP) inside the transaction that completes a step",
    "nobody waits more than 5 s for it",
    5.5,  # PostgreSQL's own 5 s, and until this machine has noticed
    _run,
    load=Load(rate=1),
)
