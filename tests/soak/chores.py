"""The work in addition to the load: a schedule, failures and their redrive, a viewer, retention."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from uuid import UUID

import httpx
from django.db import connection

from dlq.models import DeadLetterEntry
from dlq.retention import pruning
from dlq.retention.batches import PruningPace
from dlq.retention.periods import as_set
from dlq.retention.terms import RetentionScope
from executions.database.clock import database_now
from executions.models import WorkflowExecution
from executions.states import FINAL
from tests.chaos.world import World
from tests.support.schedules import EVERY_MINUTE
from tests.support.schedules import publish as publish_schedule
from tests.support.watching import LiveRun, watch
from tests.support.workflows import ACTOR, effect, publish, start_many
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.lifecycle import RedriveOptions, make

BROKEN = {"tasks": [effect("bad", failTimes=1, errorType="PERMANENT")]}
FAILURES = 5
# Executions that ended a minute ago are backdated, so that retention finds them.
AGED = """
UPDATE executions_workflowexecution SET finished_at = finished_at - interval '400 days'
 WHERE finished_at BETWEEN now() - interval '300 days' AND now() - interval '60 s'
 RETURNING id
"""

AGED_LETTERS = """
UPDATE dlq_deadletterentry
   SET resolved_at = resolved_at - interval '400 days',
       expires_at = expires_at - interval '400 days'
 WHERE resolved_at BETWEEN now() - interval '300 days' AND now() - interval '60 s'
"""


class Chores:
    """Threads that end with `stop`; `failed` is an error of one of them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._broken = publish(BROKEN)
        publish_schedule(EVERY_MINUTE)
        self._over = Event()
        self.failed: list[str] = []
        self.redriven = self.watched = 0
        # Retention may delete these: nothing reads them at the end.
        self.aged: set[UUID] = set()
        chores = ((self._redrive, 20.0), (self._prune, 30.0), (self._watch, 1.0))
        self._threads = [Thread(target=self._again, args=chore, daemon=True) for chore in chores]

    def start(self) -> None:
        """Start all threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Stop all threads."""
        self._over.set()
        for thread in self._threads:
            thread.join(90)

    def _again(self, chore: Callable[[], None], seconds: float) -> None:
        try:
            while not self._over.wait(seconds):
                chore()
        except Exception as error:
            self.failed.append(f"{chore.__name__}: {type(error).__name__}: {error}")
        finally:
            connection.close()

    def _redrive(self) -> None:
        ids = start_many(self._broken, [{}] * FAILURES)
        self._world.own(ids)
        rows = DeadLetterEntry.objects.filter(execution_id__in=ids)
        deadline = time.monotonic() + 60
        while rows.count() < FAILURES and time.monotonic() < deadline:
            if self._over.wait(0.5):
                return
        redrive = make(rows, RedriveOptions(rate=20.0), actor=ACTOR)
        lifecycle.start(redrive.pk, actor=ACTOR)
        self.redriven += redrive.total

    def _prune(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(AGED)
            self.aged.update(pk for (pk,) in cursor.fetchall())
            cursor.execute(AGED_LETTERS)
        pace = PruningPace.for_seconds(30, batch=500, rest=1.0)
        for _ in pruning.prune(pruning.kinds(), as_set(database_now(), RetentionScope()), pace):
            pass

    def _watch(self) -> None:
        running = WorkflowExecution.objects.exclude(state__in=FINAL).order_by("-created_at").first()
        if running is None:
            return
        url = f"{self._world.web.address}/v1/WorkflowExecution/{running.pk}/subscribe"
        headers = {"Authorization": f"Bearer {self._world.token}"}
        with suppress(httpx.HTTPError, AssertionError):  # it ended, or takes longer than that
            watch(url, headers, LiveRun(), frames=50, seconds=10)
        self.watched += 1
