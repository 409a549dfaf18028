"""A thread that checks every second whether each running execution is attended.

An execution is unattended if it is RUNNING with a slot although none of its steps is leased,
waiting, or due for a retry: it should be moving. Children are checked separately. The time starts
again if the execution moved between two checks.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from threading import Event, Lock, Thread
from uuid import UUID

from django.db import Error, connection

from tests.support.workflows import describe

LIMIT = 30.0
LOOK = """
SELECT e.id, count(r.id), coalesce(sum(r.lease_token), 0)
  FROM executions_workflowexecution e
  LEFT JOIN runners_run r ON r.execution_id = e.id
 WHERE e.state = 'RUNNING' AND e.place = 'HELD'
   AND e.created_at >= %s AND e.workflow_id = ANY(%s)
 GROUP BY e.id
HAVING NOT coalesce(bool_or(
       r.state IN ('RUNNING', 'LEASED')
       OR (r.state = 'WAITING' AND r.waits_for <> 'body')
       OR (r.state = 'PENDING' AND r.retry_after > clock_timestamp())), false)
"""
Mark = tuple[UUID, int, int]


class Watch:
    """The checks of these workflows' executions that began after the start."""

    def __init__(self, since: datetime, workflows: Iterable[UUID]) -> None:
        self.worst = 0.0
        self.overlooked: dict[UUID, float] = {}  # unattended for more than LIMIT; how long
        self.rows: dict[UUID, str] = {}  # their rows when that was seen
        self._workflows = list(workflows)
        self._asked = [since, self._workflows]
        self._seen: dict[Mark, float] = {}
        self._excused = 0
        self._lock = Lock()
        self._over = Event()
        self._thread = Thread(target=self._go, name="watch", daemon=True)

    def include(self, workflows: Iterable[UUID]) -> None:
        """Also check the executions of these workflows."""
        self._workflows.extend(workflows)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(30)

    @contextmanager
    def excused(self) -> Iterator[None]:
        """Do not count executions as unattended during this block, in which no process could make
        progress.
        """
        with self._lock:
            self._excused += 1
        try:
            yield
        finally:
            with self._lock:
                self._excused -= 1
                self._seen = {}

    def _go(self) -> None:
        try:
            while not self._over.wait(1):
                self._look()
        finally:
            connection.close()

    def _look(self) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute(LOOK, self._asked)
                found: set[Mark] = set(cursor.fetchall())
        except Error:
            connection.close()  # the database is down; time counts unless excused
            return
        with self._lock:
            self.note(found, time.monotonic())
            unseen = self.overlooked.keys() - self.rows.keys()
        for execution in unseen:
            self.rows[execution] = describe([execution])

    def note(self, found: Iterable[Mark], now: float) -> None:
        """Count the seconds of executions that were unattended before and have not moved since."""
        if self._excused:
            self._seen = {}
            return
        self._seen = {mark: self._seen.get(mark, now) for mark in found}
        for (execution, *_), begun in self._seen.items():
            self.worst = max(self.worst, now - begun)
            if now - begun > LIMIT:
                self.overlooked[execution] = now - begun
