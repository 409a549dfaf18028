"""The loop of `manage.py consume`: take a message, commit its result, and acknowledge it.

After a crash in between, the message is delivered again. While the broker or the database is
unavailable, the loop waits, longer each time, and logs the outage once.
"""

import logging
from collections import Counter
from threading import Event
from uuid import UUID

from django.db import InterfaceError, OperationalError, close_old_connections, connections

from executions.triggers.queues.intake import IntakeCount, IntakeVerdict, refuse, take
from executions.triggers.queues.message import Lost, MessageSource, QueueMessage

log = logging.getLogger(__name__)

IDLE_SECONDS = 0.2
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0
LONGEST_RETRY = 60.0
# Number of unexpected failures after which a message is refused.
TRIES = 3


class Consumer:
    """Reads one queue for one trigger, one message at a time.

    It handles at most `limit` messages (None means no limit). With `once`, it also ends when the
    queue is empty or a message must wait. `stop` ends it after the current message.
    """

    def __init__(
        self,
        trigger_id: UUID,
        source: MessageSource,
        *,
        stop: Event,
        limit: int | None = None,
        once: bool = False,
    ) -> None:
        self._trigger_id = trigger_id
        self._source = source
        self._stop = stop
        self._limit = limit
        self._once = once
        self._lost = _Absence(stop)
        self.counts: Counter[str] = Counter()

    def run(self) -> None:
        """Consume until `stop` is set, `limit` is reached or, with `once`, the queue is empty."""
        while not self._stop.is_set() and not self._is_enough():
            message = self._next()
            if message is None:
                if self._once and not self._lost.now:
                    return
                self._stop.wait(IDLE_SECONDS)
                continue
            taken = self._taken(message)
            if taken is None:
                return  # stopped during a database outage: the broker redelivers
            if taken.verdict == IntakeVerdict.LATER:
                self._put_off(taken)
            else:
                self.counts[taken.verdict] += 1
                self._acknowledge()

    def _is_enough(self) -> bool:
        return self._limit is not None and self.counts.total() >= self._limit

    def _next(self) -> QueueMessage | None:
        try:
            message = self._source.get()
        except Lost as error:
            self._lost.wait("the broker", error)
            return None
        self._lost.over()
        return message

    def _taken(self, message: QueueMessage) -> IntakeCount | None:
        failures = 0
        away = _Absence(self._stop)
        while not self._stop.is_set() or not (failures or away.now):
            close_old_connections()
            try:
                taken = self._take(message, failures)
                away.over()
                return taken
            except (OperationalError, InterfaceError) as error:
                connections.close_all()
                away.wait("the database", error)
            except Exception:
                failures += 1
                log.exception("message %s failed, try %d of %d", message.token, failures, TRIES)
                self._stop.wait(FIRST_PAUSE)
        return None

    def _take(self, message: QueueMessage, failures: int) -> IntakeCount:
        if failures == TRIES:
            reason = "It failed unexpectedly; see the consumer's log."
            return refuse(self._trigger_id, message, "failed", reason)
        return take(self._trigger_id, message)

    def _put_off(self, taken: IntakeCount) -> None:
        """Return a postponed message to the queue; then wait, or, with `once`, request a stop."""
        try:
            self._source.give_back()
        except Lost as error:
            self._lost.wait("the broker", error)
        if self._once:
            log.warning("stopping with messages left: %s", taken.reason)
            self._stop.set()
            return
        log.warning("waiting: %s", taken.reason)
        self._stop.wait(min(max(taken.retry_after, FIRST_PAUSE), LONGEST_RETRY))

    def _acknowledge(self) -> None:
        """Acknowledge the message; try again until this succeeds or a stop is requested.

        After an outage, the broker may redeliver the message.
        """
        while True:
            try:
                self._source.acknowledge()
            except Lost as error:
                if self._stop.is_set():
                    return
                self._lost.wait("the broker", error)
            else:
                self._lost.over()
                return


class _Absence:
    """An outage: the waits between attempts, with a log line at its start and one at its end."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop
        self._pause = FIRST_PAUSE
        self.now = False

    def wait(self, what: str, error: Exception) -> None:
        if not self.now:
            log.warning("%s does not answer (%s); trying again", what, _line(error))
        self.now = True
        self._stop.wait(self._pause)
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def over(self) -> None:
        if self.now:
            log.warning("going on")
        self.now = False
        self._pause = FIRST_PAUSE


def _line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
