"""No beat for a minute; then two beats at once, killed alternately."""

from collections import Counter
from datetime import timedelta
from typing import Any

from django.db.models import Count

from executions.database.clock import database_now
from executions.models import CronTick, Trigger, WorkflowExecution
from tests.chaos.fault import Fault
from tests.chaos.world import World
from tests.support.schedules import EVERY_MINUTE, let_pass, scheduled
from tests.support.waiting import wait_until

SCHEDULES = 20


def _schedules() -> list[Trigger]:
    """Create schedules that are due every minute and catch up on missed times."""
    more: dict[str, Any] = {"catchUp": "all", "overlap": "allow"}
    return [scheduled(**EVERY_MINUTE, **more) for _ in range(SCHEDULES)]


def _fired_once(world: World, triggers: list[Trigger]) -> None:
    """Check that each time that fired has one execution, and that there are no others."""
    Trigger.objects.filter(pk__in=[one.pk for one in triggers]).update(enabled=False)
    ticks = CronTick.objects.filter(trigger__in=triggers, status="FIRED").order_by()
    executions = WorkflowExecution.objects.filter(trigger__in=triggers)

    def agree() -> bool:
        """Return whether ticks and executions agree; work in progress when the schedules were
        disabled ends first.
        """
        of_ticks = ticks.values_list("execution_id", flat=True)
        return set(executions.values_list("pk", flat=True)) == set(of_ticks)

    wait_until(agree, 20, "one execution for each tick, and no other,")
    times = Counter(ticks.values_list("trigger_id", "fire_at"))
    doubled = [time for time, count in times.items() if count > 1]
    assert not doubled, f"fired twice: {doubled}"
    silent = {one.pk for one in triggers} - {trigger for trigger, _ in times}
    assert not silent, f"{len(silent)} of {len(triggers)} schedules did not fire at all"
    world.own(executions.values_list("pk", flat=True))
    world.figure("ticks fired", len(times))


def _killed(world: World) -> None:
    triggers = _schedules()
    wait_until(lambda: len(world.load.accepted) >= 5, 30, "some load")
    beat = world.fleet["beat"]
    with world.excused():
        world.injected("kill -9 of beat, away for 60 s", beat.pid)
        beat.kill()
        for trigger in triggers:
            let_pass(trigger, timedelta(minutes=3))
        world.pause(8 if world.quick else 60)
        begun = world.unfinished(1000)
        world.fleet.ensure()
    back = database_now()
    wait_until(lambda: not world.still(begun), 60, "the end of what waited for beat")
    world.recovered("all that waited has ended", (database_now() - back).total_seconds())
    ticks = CronTick.objects.filter(trigger__in=triggers, status="FIRED")
    caught_up = ticks.order_by().values("trigger").annotate(n=Count("pk")).filter(n__gte=3)
    wait_until(lambda: caught_up.count() == SCHEDULES, 60, "the missed ticks of each schedule")
    _fired_once(world, triggers)


def _two(world: World) -> None:
    triggers = _schedules()
    world.fleet.beat("beat-2")
    world.injected("a second beat")
    try:
        for turn in range(2 if world.quick else 6):
            for trigger in triggers:
                let_pass(trigger, timedelta(minutes=2 * turn + 2))
            world.pause(4)
            victim = world.fleet[("beat", "beat-2")[turn % 2]]
            world.injected("kill -9 of one of two beats", victim.pid)
            victim.kill()
            world.pause(4)
            victim.start()
    finally:
        world.fleet.remove("beat-2")
    ticks = CronTick.objects.filter(trigger__in=triggers, status="FIRED")
    fired = ticks.order_by().values("trigger").distinct()
    wait_until(lambda: fired.count() == SCHEDULES, 60, "a tick of each schedule")
    _fired_once(world, triggers)


BEAT_KILLED = Fault(
    "beat-killed",
    "beat killed, and started again after 60 s",
    "nothing is lost; missed schedules are caught up with, none fires twice",
    None,
    _killed,
)
TWO_BEATS = Fault(
    "two-beats",
    "two beats at once, killed alternately",
    "no time of a schedule fires twice",
    None,
    _two,
)
