"""Threads of which one runs at a time: each stops before every statement until it has the turn.

All traffic to PostgreSQL goes through `psycopg.Connection.wait`: statements of the ORM, the
engine's own, whole pipelines, COMMIT and ROLLBACK. There an actor reports its next statement and
sleeps until the scheduler lets it continue.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import psycopg
from django.db import connections
from psycopg import errors

from executions.database.routing import alias
from executions.vendor_seams.django_connections import discard
from tests.simulation import statement_names

_here = threading.local()
_wait = psycopg.Connection.wait


class Killed(BaseException):
    """The process of an actor ended here; its later actions do not happen."""


class Actor:
    """One process: a thread with its own connection.

    `at` is the statement that it is about to execute; None while it is idle. `blocked` means that
    its statement was sent and waits for a lock.
    """

    def __init__(self, name: str, reports: "SimpleQueue[Actor]") -> None:
        self.name = name
        self.at: str | None = None
        self.blocked = False
        self.dies_after = False
        self.dead = False
        self.leaves = False  # asked to end: it begins no other step
        self.lives = 0  # processes of this name that have ended
        self.job: Any = None
        self.error: BaseException | None = None
        self.deadlocks = 0
        self.session = 0  # pid of the PostgreSQL backend that executes its statement
        self.cut = 0  # pid of one whose client has ended, and that may not have noticed yet
        self.lined_up: list[str] = []
        self._reports = reports
        self._turn = threading.Semaphore(0)
        self._act: Callable[[], None] | None = None
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Return whether the actor is idle."""
        return self._act is None

    def begin(self, act: Callable[[], None], job: Any = None) -> None:
        """Start this action; the actor runs up to its first statement."""
        self._act, self.job, self.error, self.dead = act, job, None, False
        self._turn.release()

    def go_on(self) -> None:
        """Let the actor execute its current statement, and run up to the next."""
        self.at = None
        self._turn.release()

    def kill(self) -> None:
        """End the actor's process before its current statement."""
        self.dead = True
        self.close()
        self.go_on()

    def close(self) -> None:
        """Cut the actor's connection, as at the end of its process."""
        raw = self.django.connection
        if raw is not None and not raw.closed:
            self.cut = int(raw.info.backend_pid)
            raw.close()

    def end(self) -> None:
        """End the thread."""
        self._act = None
        self._turn.release()
        self._thread.join(10)

    def _live(self) -> None:
        _here.actor = self
        self.django = connections[alias()]
        while True:
            self._turn.acquire()
            if self._act is None:
                discard(self.django)
                return
            try:
                self._act()
            except Killed:
                pass
            except BaseException as error:
                # What an ended process would raise next is ignored.
                self.error = None if self.dead else error
            if self.dead:
                discard(self.django)
                self.lives += 1
            self._act, self.at, self.dies_after = None, None, False
            self._reports.put(self)

    def stop(self, at: str) -> None:
        """Report the statement that the actor is about to execute, and wait for the actor's turn.

        Raises Killed if the actor was killed.
        """
        if self.dead:
            raise Killed
        self.at = at
        self._reports.put(self)
        self._turn.acquire()
        if self.dead:
            raise Killed

    def executed(self) -> None:
        """Handle an executed statement: the process may end now, or has to wait for its turn."""
        if self.dies_after:
            self.dead = True
            self.close()
            raise Killed
        if self.blocked:
            self.stop("goes on")


def me() -> Actor | None:
    """Return the actor of this thread."""
    return getattr(_here, "actor", None)


def waited(raw: Any, generator: Any, *args: Any, **options: Any) -> Any:
    """Replaces `psycopg.Connection.wait`."""
    actor = me()
    if actor is None or actor.django.connection is not raw:
        return _wait(raw, generator, *args, **options)
    if actor.dead:
        raise Killed
    at = _due(actor, raw, generator)
    if at is None:
        return _wait(raw, generator, *args, **options)
    actor.session = raw.info.backend_pid
    actor.stop(at)
    try:
        answer = _wait(raw, generator, *args, **options)
    except errors.DeadlockDetected:
        actor.deadlocks += 1
        actor.executed()
        raise
    except psycopg.Error:
        actor.executed()
        raise
    actor.executed()
    return answer


def _due(actor: Actor, raw: Any, generator: Any) -> str | None:
    """Return the statement that the generator sends to the server; None for none."""
    query = statement_names.query(generator)
    if raw._pipeline is not None and query is not None:
        actor.lined_up.append(query)
        return None
    if statement_names.ends_pipeline(generator):
        together, actor.lined_up = actor.lined_up, []
        return " + ".join(together) or "nothing"
    return query or statement_names.command(generator)


@contextmanager
def seam() -> Iterator[None]:
    """Let statements of actors wait for their turn during this block."""
    psycopg.Connection.wait = waited  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        psycopg.Connection.wait = _wait  # type: ignore[method-assign]
