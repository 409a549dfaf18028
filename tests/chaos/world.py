"""A fault's environment: servers, workers, a beat, the API, a load, and the reports."""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import connection

from executions.accounts.tokens import create_token
from executions.database.clock import database_now
from executions.models import WorkflowExecution, Workspace
from executions.states import FINAL
from tests.chaos import meddling, shapes
from tests.chaos.doors import Call, Door, Http
from tests.chaos.fault import Fault
from tests.chaos.load import Starter
from tests.chaos.outcome import Outcome
from tests.chaos.stage import Stage
from tests.chaos.watch import Watch
from tests.support import modules
from tests.support.fleet import QUICK, Fleet
from tests.support.id_arrays import among
from tests.support.nursery import from_nothing
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import ACTOR, describe

FENCED = b"fenced: run"


class World:
    """Everything of one run of `make chaos`; it is passed from fault to fault."""

    load: Starter
    watch: Watch
    outcome: Outcome

    def __init__(
        self,
        stage: Stage,
        seed: int,
        *,
        quick: bool,
        minutes: float,
        kills: int,
        crowd: float = 1.0,
    ) -> None:
        self.postgres, self.redis, self.broker = stage.postgres, stage.redis, stage.broker
        self.standby = stage.standby
        self.folder = stage.folder
        self.seed, self.quick, self.crowd = seed, quick, crowd
        self.minutes, self.kills = minutes, kills
        self.lease = float(QUICK["VALKYR_LEASE_SECONDS"]) if quick else 20.0
        self.random = Random(seed)
        hooks = {
            "VALKYR_EXTRA_MODULES": "tests.support.modules,tests.support.row_steps,"
            "tests.support.knocking_step,tests.chaos.meddling",
            meddling.VARIABLE: str(stage.folder / "meddle"),
        }
        hooks |= stage.environment
        leases = QUICK if quick else {}
        self.fleet = Fleet(
            stage.folder, stage.redis_url, {**leases, **hooks}, stage.broker.url, from_nothing
        )
        more = hooks | {"CELERY_BROKER_URL": stage.broker.url, "VALKYR_PROCESS": "web"}
        self.web = WebServer(stage.folder / "web.log", more, from_nothing)
        self.injured: set[int] = set()
        self._own: list[UUID] = []
        self._logs: dict[str, int] = {}
        self.token = ""

    def build(self) -> None:
        """Start everything; return when it is ready."""
        modules.install()
        self.workflows = shapes.publish_all()
        self.token = _token()
        self.fleet.everybody()
        self.web.start()
        self.fleet.ensure(90)

    def stop(self) -> None:
        """End every process; resume frozen ones first."""
        self.fleet.stop()
        if self.web.started:
            self.web.kill()
        connection.close()

    # ---- for the frame

    def begin(self, fault: Fault, outcome: Outcome) -> None:
        """Make everything ready, and start recording for this fault."""
        self.fleet.ensure(90)
        if not self.web.alive():
            self.web.start()
        self.outcome = outcome
        self.random = Random(f"{self.seed}:{fault.slug}")
        self.injured, self._own = set(), []
        self._logs = {name: m.log.stat().st_size for name, m in self.fleet.members.items()}
        self._since = database_now()
        door: Door = Http(self.web.address, self.token) if fault.load.api else Call()
        self.load = Starter(self.workflows, fault.load, door, f"{self.seed}:{fault.slug}")
        self.watch = Watch(self._since, [one.pk for one in self.workflows.values()])
        self.load.start()
        self.watch.start()

    def ids(self) -> list[UUID]:
        """Return the executions of this fault: the load's, their children, and its own."""
        of_load = WorkflowExecution.objects.filter(
            created_at__gte=self._since,
            workflow__in=[one.pk for one in self.workflows.values()],
        )
        return [*of_load.values_list("pk", flat=True), *self._own]

    def fenced(self) -> int:
        """Return how many late results the workers' logs have reported as rejected since the fault
        began.
        """
        count = 0
        for name, member in self.fleet.members.items():
            with member.log.open("rb") as log:
                log.seek(self._logs.get(name, 0))
                count += log.read().count(FENCED)
        return count

    # ---- for faults

    def injected(self, what: str, *pids: int) -> None:
        """Record that a fault was injected into these processes."""
        self.outcome.injected[what] += 1
        self.injured.update(pids)

    def recovered(self, what: str, seconds: float) -> None:
        """Record that something had recovered after this number of seconds."""
        self.outcome.recoveries.append(max(0.0, seconds))

    def note(self, text: str) -> None:
        """Add a line to the report."""
        self.outcome.notes.append(text)

    def figure(self, name: str, value: Any) -> None:
        """Add a number to the report."""
        self.outcome.figures[name] = value

    def own(self, ids: Collection[UUID]) -> None:
        """Add executions that the fault itself started to the audit."""
        self._own += list(ids)

    @contextmanager
    def excused(self) -> Iterator[None]:
        """Do not count executions as unattended during this block, in which no process could make
        progress.
        """
        with self.watch.excused():
            yield

    def pause(self, seconds: float) -> None:
        """Let the load run for this time, which is part of the fault."""
        time.sleep(seconds)

    def restart(self) -> None:
        """Restart the processes that ended; do not wait for workers."""
        for member in self.fleet.members.values():
            if not member.alive():
                member.start()
        if not self.web.alive():
            self.web.launch()

    def wait_all_ended(self, seconds: float = 120) -> None:
        """Return when all executions of this fault are final. Raises AssertionError that describes
        the others.
        """
        try:
            wait_until(lambda: not self.unfinished(1), seconds, "the end of all executions")
        except AssertionError as error:
            raise AssertionError(f"{error}: {describe(self.unfinished(3))}") from None

    def unfinished(self, most: int) -> list[UUID]:
        """Return executions of this fault that are not final, at most this number."""
        return self.still(self.ids())[:most]

    def still(self, ids: Collection[UUID]) -> list[UUID]:
        """Return which of these executions are not final."""
        left = WorkflowExecution.objects.filter(pk__in=among(ids)).exclude(state__in=FINAL)
        return list(left.values_list("pk", flat=True))


def _token() -> str:
    user = get_user_model().objects.get(username="chaos")
    workspace = Workspace.objects.get(slug=Workspace.DEFAULT_SLUG)
    return create_token(workspace, user, name="chaos", maker=user, actor=ACTOR)[1]
