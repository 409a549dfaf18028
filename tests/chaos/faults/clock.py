"""Workers whose clocks are five minutes wrong: leases, timers and deadlines are not affected."""

import time
from datetime import timedelta

from executions.database.clock import database_now
from executions.models import WorkflowExecution
from runners.models import Run
from tests.chaos.fault import Fault
from tests.chaos.servers.clock import off_by
from tests.chaos.world import World
from tests.support.outages import marks_of, wait_for_mark
from tests.support.workflows import effect, publish, start, task, wait_for_end

OFF = 300
TIMELY = 15.0  # seconds; an affected clock would make it five minutes, or none


def _skewed(world: World) -> None:
    sides = (OFF,) if world.quick else (OFF, -OFF)
    for ahead in sides:
        with world.excused():
            for name in ("control", "default-1", "default-2"):
                world.fleet[name].kill()
            world.injected(f"the clocks of `default` and `control` {ahead:+d} s off")
            world.fleet.worker("skewed-default", "default", "prefork", 2, **off_by(ahead))
            world.fleet.worker("skewed-control", "control", "threads", 4, **off_by(ahead))
            started = [world.fleet["skewed-default"], world.fleet["skewed-control"]]
            _until_ready(started)
        try:
            _judge(world)
        finally:
            for member in started:
                world.fleet.remove(member.name)
            world.fleet.ensure(90)


def _until_ready(members: list[object]) -> None:
    from tests.support.waiting import wait_until

    for member in members:
        wait_until(member.ready, 90, "readiness")  # type: ignore[attr-defined]


def _judge(world: World) -> None:
    retry = {"maxAttempts": 3, "baseSeconds": 1, "jitter": 0}
    tasks = [
        effect("flaky", failTimes=2, retry=retry),
        task("sleeps", "test.wait", "flaky", **{"with": {"seconds": 3}}),
        effect("after", "sleeps"),
    ]
    begun = time.monotonic()
    timed = start(publish({"tasks": tasks}))
    held = start(publish({"tasks": [effect("work", seconds=1.5 * world.lease)]}))
    late = start(publish({"tasks": [effect("work", hangSeconds=90, timeoutSeconds=4)]}))
    world.own([timed, held, late])
    wait_for_mark(held)
    assert wait_for_end([timed], 90)[timed] == "SUCCESS"
    took = time.monotonic() - begun
    slept = Run.objects.get(execution_id=timed, step_path="sleeps.main")
    assert slept.finished_at
    assert slept.started_at
    seconds = (slept.finished_at - slept.started_at).total_seconds()
    assert 2.9 < seconds < TIMELY, f"a timer of 3 s took {seconds:.1f} s"
    world.recovered("retries and a timer were kept", max(0.0, took - 8))
    end = wait_for_end([late], 90)[late]
    run = Run.objects.filter(execution_id=late).order_by("attempt").first()
    assert run is not None
    assert run.error_type == "TIMEOUT", f"{end}: {run.error_type} {run.error}"
    assert wait_for_end([held], 120)[held] == "SUCCESS"
    assert len(marks_of(held, "work.main")) == 1, "a lease that was renewed was taken over"
    _nothing_from_the_future(world)


def _nothing_from_the_future(world: World) -> None:
    # The load continues meanwhile: what ends between two queries is not due to a wrong clock.
    soon = database_now() + timedelta(seconds=OFF / 2)
    ahead = WorkflowExecution.objects.filter(pk__in=world.ids(), finished_at__gt=soon).count()
    ahead += Run.objects.filter(execution_id__in=world.ids(), finished_at__gt=soon).count()
    assert not ahead, f"{ahead} rows carry a time that has not come"


CLOCK = Fault(
    "clock",
    "the clocks of the only `default` and `control` workers 5 min ahead, then 5 min behind",
    "leases, timers, retries and deadlines go by the database's clock",
    30,
    _skewed,
    needs=("faketime",),
)
