"""The end of a worker: announced at once, then its steps get their grace, then they are given back.

Celery's own end (warm, after SIGTERM) waits for steps without a bound, and a supervisor kills what
takes too long: the leases of those steps would run for another while. So a thread waits beside it,
and when the grace is over it ends the pool's processes, gives their steps back, to be sent to other
workers at once, and ends this one in order. Such a step is begun again under the same idempotency
key, as after a crash, but it counts as none.
"""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable

import psutil
from django.db import Error

from executions.database import connection
from runners import statements
from runners.conf import config, pool
from runners.dispatch.messages import resend
from runners.isolation.client import client
from runners.process import activity
from runners.process.identity import SEPARATOR, gone, process_identity
from runners.segment.run_rows import release

log = logging.getLogger(__name__)

# How long ended children may take to vanish.
VANISH_SECONDS = 2.0


class WorkerShutdown:
    """One worker's end, minded by a thread of its own."""

    def __init__(self, announce: Callable[[], None]) -> None:
        """`announce` says in the database that this worker leaves."""
        self._announce = announce
        self._done = threading.Event()
        self._end = True
        self._thread = threading.Thread(target=self._mind, name="valkyr-departure", daemon=True)

    def begin(self, *, end: bool = True) -> None:
        """Begin no step any more; returns at once, since it is called in a signal handler.

        Without `end` nothing is ended by force: others' tasks may be under way in these processes.
        """
        self._end = end
        if not activity.draining():
            activity.begin_draining()
            self._thread.start()

    def done(self) -> None:
        """All steps ended in time; returns once the end is announced."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(config().drain)

    def _mind(self) -> None:
        self._announce()
        connection.close()
        if self._done.wait(config().drain) or not self._end:
            return
        log.warning("steps are under way after %g s; they are given back", config().drain)
        try:
            _end_children()
            give_back()
        except Exception:
            log.exception("steps could not be given back; their leases end by themselves")
        finally:
            _exit()


def give_back() -> int:
    """Let go of what this process or an ended child of it holds, and send it; returns how many.

    Steps that still run in this process are fenced: their token has grown.
    """
    name = process_identity().partition(SEPARATOR)[0]
    rows = []
    for run_id, token, leased_by in statements.fetch("held_by", {"name": name + SEPARATOR}):
        if leased_by == process_identity() or gone(leased_by):
            rows += release(run_id, token)
    return resend(rows)


def _end_children() -> None:
    """Kill the processes in which steps run; nothing that they do is recorded any more."""
    if pool() == "threads":
        client().stop()
        return
    children = psutil.Process().children()
    for child in children:
        try:
            child.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(children, timeout=VANISH_SECONDS)


def _exit() -> None:
    """End this process as one that did what it was asked for.

    Threads that hang would keep the interpreter from its end, and a silent broker Celery.
    """
    try:
        connection.close()
    except Error:
        log.debug("the connection was closed already")
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
