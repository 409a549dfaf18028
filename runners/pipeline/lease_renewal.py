"""One thread per process renews the leases of long steps, and fails steps that ignore timeouts.

The thread starts with the first step that is not inline. It renews leases on its own connection,
which it opens again after a database error.
"""

import logging
import os
import signal
import threading
import time
from functools import lru_cache
from typing import Any

import psycopg

from executions.database import connection
from executions.sealing.sealer import PayloadSealer
from runners import statements
from runners.conf import config, pool
from runners.failures.classification import Failure
from runners.pipeline.active_run import ActiveRun
from runners.pipeline.self_stops import LeaseGuard
from runners.process import activity, own_connection
from runners.segment.packs import Pack
from runners.segment.work import Work
from runners.states import ErrorType

log = logging.getLogger(__name__)

TICK = 0.5


class Heart:
    """The steps that are executing in this process, and the thread that watches them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._beats: dict[Any, ActiveRun] = {}
        self._thread: threading.Thread | None = None
        self._connection: psycopg.Connection[Any] | None = None
        self._guard = LeaseGuard(self._active)

    def hold(
        self,
        work: Work,
        seconds: float,
        pack: Pack[Any] | None = None,
        sealer: PayloadSealer | None = None,
    ) -> ActiveRun:
        """Watch a step; return its data. Other workers get the rest of a slow step's pack."""
        now = time.monotonic()
        beat = ActiveRun(
            work, until=now + seconds, renewed=work.claimed_at, pack=pack, sealer=sealer
        )
        with self._lock:
            self._beats[work.run_id] = beat
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._mind, name="valkyr-heartbeat", daemon=True
                )
                self._thread.start()
                self._guard.begin()
        return beat

    def release(self, beat: ActiveRun) -> None:
        """Stop watching a step that has ended."""
        with self._lock:
            self._beats.pop(beat.work.run_id, None)

    def stuck(self) -> int:
        """Return how many steps still run after the end of their timeout and its grace period."""
        with self._lock:
            return sum(beat.expired for beat in self._beats.values())

    def _active(self) -> list[ActiveRun]:
        """Return the steps that are executing now.

        Takes no lock, because an interrupted thread may hold it.
        """
        return list(self._beats.values())

    def _mind(self) -> None:
        activity.heart_begins()
        while True:
            time.sleep(TICK)
            with self._lock:
                beats = list(self._beats.values())
            if beats:
                try:
                    self._look_after(beats)
                except Exception:
                    # Never let this thread end, because all steps of the process would lose their
                    # leases.
                    log.exception("the heartbeat failed once; it continues")

    def _look_after(self, beats: list[ActiveRun]) -> None:
        self._guard.look()
        self._renew(beats)
        self._expire(beats)
        self._hand_back(beats)

    def _renew(self, beats: list[ActiveRun]) -> None:
        limits = config()
        now = time.monotonic()
        old = [
            beat
            for beat in beats
            if now - beat.renewed > min(limits.heartbeat, limits.lease / 3)
            and not (beat.unwanted or beat.expired or beat.stopped)
        ]
        if not old:
            return
        try:
            wanted = self._statement(
                "renew",
                {
                    "executions": [beat.work.execution_id for beat in old],
                    "runs": [beat.work.run_id for beat in old],
                    "tokens": [beat.work.token for beat in old],
                    "details": [beat.details for beat in old],
                    "lease": limits.lease,
                    "grace": limits.grace,
                },
            )
        except psycopg.Error as error:
            log.warning("leases not renewed (%s); trying again", error)
            self._drop()
            return
        self._guard.look()  # the response may have arrived after the end of the lease
        kept = {row[0] for row in wanted}
        for beat in old:
            beat.unwanted = beat.work.run_id not in kept
            beat.renewed, beat.ending = now, False

    def _expire(self, beats: list[ActiveRun]) -> None:
        limits = config()
        now = time.monotonic()
        for beat in beats:
            if beat.expired or now < beat.until + limits.grace:
                continue
            beat.expired = True
            self._end(beat)
        if pool() == "threads" and self.stuck() >= limits.stuck_threads:
            log.error("%s steps ignore their timeouts; this worker ends", self.stuck())
            os.kill(os.getpid(), signal.SIGTERM)

    def _hand_back(self, beats: list[ActiveRun]) -> None:
        """Send late packs back to the queue in threads; a slow broker must not delay renewals."""
        for beat in beats:
            if beat.pack is not None and beat.pack.left and beat.pack.late():
                threading.Thread(target=beat.pack.hand_back, name="valkyr-pack").start()

    def _end(self, beat: ActiveRun) -> None:
        """Fail the run if this process holds it; kill the process unless its pool uses threads."""
        from runners.pipeline import end_run

        work = beat.work
        failure = Failure(
            ErrorType.TIMEOUT,
            f"Step {work.path} did not finish within its timeout of {work.seconds:g} s and "
            "did not stop.",
            "StepTimeout",
            None,
            None,
            "",
        )
        try:
            end_run.fail(work.execution_id, work.run_id, failure, token=work.token)
        except Exception:
            log.exception("could not record the timeout of run %s", work.run_id)
        finally:
            connection.close()
        if pool() != "threads":
            log.error("step %s ignores its timeout; its process ends", work.path)
            os.kill(os.getpid(), signal.SIGKILL)

    def _statement(self, name: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(autocommit=True, **own_connection.parameters())
        return self._connection.execute(statements.statement(name), params).fetchall()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


@lru_cache(maxsize=4)
def _heart(pid: int) -> Heart:
    return Heart()


def heart() -> Heart:
    """Return the `Heart` of this process; each forked child has a separate one."""
    return _heart(os.getpid())
