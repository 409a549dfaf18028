"""Executions that a thread starts at a steady rate while faults are injected."""

import time
from collections import Counter
from collections.abc import Collection, Mapping
from random import Random
from threading import Event, Thread
from uuid import UUID

from django.db import Error, connection

from executions.models import Workflow, WorkflowExecution
from tests.chaos.doors import Answer, Door
from tests.chaos.fault import Load
from tests.chaos.shapes import WEIGHTS


class Starter:
    """Starts executions until stopped, and records which were promised.

    It skips no request: a client without an answer repeats it with the same key, so that every
    promise is known.
    """

    def __init__(
        self, workflows: Mapping[str, Workflow], settings: Load, door: Door, seed: str
    ) -> None:
        self.accepted: list[UUID] = []
        self.refused: Counter[str] = Counter()
        self.slowest = 0.0  # seconds that an answer of any kind took
        self._workflows = workflows
        self._settings = settings
        self._door = door
        self._seed = seed
        self._random = Random(f"{seed}:load")
        self._over = Event()
        self._thread = Thread(target=self._go, name="load", daemon=True)

    def start(self) -> None:
        """Begin starting executions; do nothing if the rate is 0."""
        if self._settings.rate:
            self._thread.start()

    def stop(self) -> None:
        """Stop starting executions; return after the last answer, or when no server answers any
        more.
        """
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join(60)
            assert not self._thread.is_alive(), "the load's last request got no answer in 60 s"

    def ids(self) -> list[UUID]:
        """Return the promised executions."""
        return list(self.accepted)

    def forget(self, ids: Collection[UUID]) -> None:
        """Remove these executions, because the server that promised them no longer exists."""
        for one in ids:
            self.accepted.remove(one)

    def _go(self) -> None:
        number, pause = 0, 1 / self._settings.rate
        due = time.monotonic() + pause
        try:
            while not self._over.wait(max(0.0, due - time.monotonic())):
                if self._unfinished() < self._settings.most:
                    self._start(f"{self._seed}:{number}")
                    number += 1
                # Starts that a fault has delayed by more than a second are not repeated.
                due = max(due + pause, time.monotonic() - 1.0)
        finally:
            connection.close()

    def _start(self, key: str) -> None:
        [shape] = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()))
        while True:
            answer = self._ask(shape, key)
            if answer.accepted is not None:
                self.accepted.append(answer.accepted)
                return
            self.refused[answer.refused] += 1
            if self._over.wait(0.5):
                return

    def _ask(self, shape: str, key: str) -> Answer:
        begun = time.monotonic()
        answer = self._door.ask(self._workflows[shape], key)
        self.slowest = max(self.slowest, time.monotonic() - begun)
        return answer

    def _unfinished(self) -> int:
        try:
            return WorkflowExecution.objects.filter(
                pk__in=self.accepted[-1000:], finished_at=None
            ).count()
        except Error:
            connection.close()
            return 0
