"""Shut a worker down: announce this, wait for steps, then return unfinished ones to their queues.

Celery's own warm shutdown (SIGTERM) waits for steps without a limit, and a supervisor kills a slow
process, whose leases would remain for a while. A thread therefore waits in parallel. After the
grace period, the thread ends the pool's processes, sends their steps to other workers, and ends
this process, unless the worker also runs other tasks. A step that was sent to another worker
starts again with the same idempotency key, as after a crash, but this does not count as a crash.
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

# How many seconds ended children may take to disappear.
VANISH_SECONDS = 2.0


class WorkerShutdown:
    """The shutdown of one worker; a separate thread waits for the worker's steps."""

    def __init__(self, announce: Callable[[], None]) -> None:
        """Store `announce`, which records this worker's shutdown in the database."""
        self._announce = announce
        self._done = threading.Event()
        self._end = True
        self._thread = threading.Thread(target=self._mind, name="valkyr-departure", daemon=True)

    def begin(self, *, end: bool = True) -> None:
        """Begin the shutdown: no further step starts. Return immediately, as a signal handler must.

        Without `end`, no process is ended and no step is returned, because other tasks may run.
        """
        self._end = end
        if not activity.draining():
            activity.begin_draining()
            self._thread.start()

    def done(self) -> None:
        """Finish the shutdown because all steps ended in time; return after the announcement."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join(config().drain)

    def _mind(self) -> None:
        self._announce()
        connection.close()
        if self._done.wait(config().drain) or not self._end:
            return
        log.warning(
            "steps are still running after %g s; they are returned to their queues", config().drain
        )
        try:
            _end_children()
            give_back()
        except Exception:
            log.exception("steps could not be returned; their leases will expire")
        finally:
            _exit()


def give_back() -> int:
    """Release the runs of this process and its ended children; return how many are sent again.

    Steps that are still running in this process are fenced by a newer token.
    """
    name = process_identity().partition(SEPARATOR)[0]
    rows = []
    held = statements.fetch("runs_of_worker", {"name": name + SEPARATOR})
    for run_id, execution_id, token, leased_by in held:
        if leased_by == process_identity() or gone(leased_by):
            rows += release(execution_id, run_id, token)
    return resend(rows)


def _end_children() -> None:
    """Kill the processes that run steps; their results can no longer be recorded."""
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
    """End this process with the exit code of a normal end.

    Hanging threads would block the interpreter's exit, and a silent broker would block Celery.
    """
    try:
        connection.close()
    except Error:
        log.debug("the connection was closed already")
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
