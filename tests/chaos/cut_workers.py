"""Workers that a fault cuts off, and a partner that records who calls it and when."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from executions.database.clock import database_now
from runners.models import Run
from tests.chaos.world import World
from tests.support.heard_calls import HeardCalls
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, task, wait_for_end

# Queues that only the cut workers serve, besides those of the load.
PROCESSES, THREADS = "apart", "apart-io"
MEMBERS = ("apart", "apart-io", "spare")
LONG = 600.0


@dataclass
class CutWorkers:
    """A prefork worker and a worker of threads; `mend` restores their network."""

    world: World
    calls: HeardCalls
    mend: Callable[[], object]
    margins: list[float] = field(default_factory=list)  # from a last call to the lease's end
    doubled: int = 0  # calls of a holder after the first call of another one

    def add(self, there: dict[str, str]) -> None:
        """Start the workers with this environment, and wait until they are ready."""
        fleet = self.world.fleet
        fleet.worker(MEMBERS[0], f"default,{PROCESSES}", "prefork", 2, **there)
        fleet.worker(MEMBERS[1], f"io,{THREADS}", "threads", 8, **there)
        fleet.ensure(90)

    def remove(self) -> None:
        """Restore the workers' network, and end the workers."""
        self.mend()
        for name in MEMBERS:
            if name in self.world.fleet.members:
                self.world.fleet.remove(name)

    def begin(self, seconds: float) -> dict[str, Run]:
        """Start a step in a process and one in a thread of these workers; return when both are
        running.
        """
        url = self.calls.partner.url
        runs = {}
        for queue in (PROCESSES, THREADS):
            given = {"url": url, "seconds": seconds, "heeds": queue == THREADS}
            used = task("work", "test.knocker", queue=queue, **{"with": given})
            execution = start(publish({"tasks": [used, task("after", "test.effect", "work")]}))
            self.world.own([execution])
            runs[queue] = Run.objects.get(execution_id=execution, step_path="work.main")
        for run in runs.values():
            wait_until(lambda run=run: self.calls.of(run.pk), 60, "the first call of each step")
        return runs

    def taken_over(self, what: str, cut: Callable[[], object]) -> None:
        """Cut the workers off until others have executed their steps; check that no holder calls
        after its lease.
        """
        world, calls = self.world, self.calls
        runs = self.begin(LONG)
        ids = [run.execution_id for run in runs.values()]
        at = database_now()
        world.injected(what)
        cut()
        world.fleet.worker("spare", f"{PROCESSES},{THREADS}", "prefork", 2)
        wait_until(lambda: calls.taken_over(ids), 90, "the end of the leases of who is cut off")
        wait_for_end(ids, 90)
        self.mend()
        for run in runs.values():
            first, others = calls.split(run.pk)
            ends = calls.leases[str(run.pk)]
            world.recovered("step done again", min(others) - at.timestamp())
            self.margins.append(ends - max(first))
            self.doubled += sum(call >= min(others) for call in first)
            run.refresh_from_db()
            assert run.crashes == 0, f"run {run.pk} was blamed: {run.crash_cause}"
            last = run.outputs == run.lease_token
            assert last, f"run {run.pk} has not the result of its last holder"
        world.fleet.remove("spare")
        world.fleet.ensure(90)

    def kept(self, what: str, cut: Callable[[], object]) -> None:
        """Disturb the workers' network for longer than a lease; check that the holder of a step
        continues and records it.
        """
        world = self.world
        runs = self.begin(1.5 * world.lease)
        world.injected(what)
        cut()
        time.sleep(1.5 * world.lease)
        self.mend()
        wait_for_end([run.execution_id for run in runs.values()], 90)
        for run in runs.values():
            run.refresh_from_db()
            others = self.calls.split(run.pk)[1]
            assert (run.lease_token, others) == (1, []), f"run {run.pk} was taken over"
        world.fleet.ensure(90)

    def judge(self) -> None:
        """Check that no holder called at the same time as another one, or after its lease."""
        least = min(self.margins)
        self.world.figure(
            "times that two workers made calls for the same step at the same time", self.doubled
        )
        self.world.figure(
            "shortest time from a worker's last call to the end of its lease on the step",
            f"{least:.2f} s",
        )
        assert not self.doubled, f"a holder called {self.doubled} times beside another one"
        assert least > 0, f"a holder called {-least:.2f} s after its lease had ended"
