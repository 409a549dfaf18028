"""Stop this process's steps before the end of leases that it cannot renew.

`lease_guard` decides when. One thread per process checks its leases, separately from the heartbeat,
which waits for the database. In a process whose main thread executes the step, SIGCONT triggers the
check too: a process that was frozen past its lease ends when it resumes, before the step continues.
Only workers are ended. Programs that run steps in their own process, such as tests, have no other
worker to take over.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from runners.conf import config
from runners.pipeline import lease_guard
from runners.pipeline.active_run import ActiveRun
from runners.pipeline.lease_guard import LeaseStage
from runners.process import last_words
from runners.process.identity import of_a_worker

log = logging.getLogger(__name__)


class _Others:
    here = False


def spare_others() -> None:
    """Never end this process, because it also executes other tasks; only stop its steps."""
    _Others.here = True


class LeaseGuard:
    """Checks the leases of one process, and stops steps before their leases end."""

    def __init__(self, active: Callable[[], list[ActiveRun]]) -> None:
        """Store `active`, a function that returns the current steps without taking a lock."""
        self._active = active
        self._armed = False
        self._word = last_words.OwnWord()

    def begin(self) -> None:
        """Start the checks if this is a worker. The thread of the first step calls this, once."""
        self._armed = of_a_worker()
        if not self._armed:
            return
        threading.Thread(target=self._watch, name="valkyr-lease-guard", daemon=True).start()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGCONT, self._wakes)

    def look(self) -> None:
        """Stop the steps whose leases end soon. Safe in a signal handler."""
        if not self._armed:
            return
        lease, now, latest = config().lease, time.monotonic(), LeaseStage.HELD
        runs = self._active()
        for run in runs:
            due = lease_guard.stage(now - run.renewed, lease)
            if run.unwanted:  # the step has already been notified
                continue
            run.ending = due is not LeaseStage.HELD
            latest = max(latest, due)
            if due is LeaseStage.END and not _Others.here:
                self._end(run, now - run.renewed)
            if due is LeaseStage.INTERRUPT and run.in_main_thread and not run.interrupted:
                run.interrupted = True
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)
        if runs:
            self._prepare_word(latest)

    def _prepare_word(self, latest: LeaseStage) -> None:
        """Write the note about the process's end in advance; remove it when the leases are renewed.

        A process that must end has no time to wait for a slow disk or a busy machine. If the
        process's steps were stopped, the note remains until the process runs another step: the
        process may end in any way before the database releases the run that it still seems to hold.
        """
        if latest is LeaseStage.HELD:
            self._word.take_back()
        elif not _Others.here:
            self._word.leave()

    def _end(self, run: ActiveRun, age: float) -> None:
        """End this process, and record that its steps did not cause the end."""
        self._word.leave()
        self._word.wait()
        last_words.within(
            last_words.SECONDS,
            log.error,
            "the lease of run %s of step %s was not renewed for %.1f s; its process ends before "
            "another worker takes the step over",
            run.work.run_id,
            run.work.path,
            age,
        )
        os.kill(os.getpid(), signal.SIGKILL)

    def _watch(self) -> None:
        while True:
            time.sleep(lease_guard.period(config().lease))
            try:
                self.look()
            except Exception:
                log.exception("the lease guard failed once; it continues")

    def _wakes(self, *_: Any) -> None:
        self.look()


def begins_too_late(claimed_at: float) -> bool:
    """Return whether too little time of the lease remains for the step to begin."""
    age = time.monotonic() - claimed_at
    return lease_guard.stage(age, config().lease) >= LeaseStage.INTERRUPT
