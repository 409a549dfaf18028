"""A schedule on the real beat and workers: waiting ticks run one after another."""

from itertools import pairwise

from executions.models import CronTick
from tests.support.fleet import Fleet
from tests.support.schedules import queued, scheduled, statuses
from tests.support.waiting import wait_until


def test_waiting_times_run_one_after_another_by_beat_alone(fleet: Fleet) -> None:
    trigger = scheduled(schedule="0 0 1 1 *", overlap="queue")
    queued(trigger, 5)

    wait_until(lambda: statuses(trigger) == ["FIRED"] * 5, 40, "five starts")
    ticks = CronTick.objects.filter(trigger=trigger, execution__isnull=False)
    wait_until(lambda: ticks.filter(execution__state="SUCCESS").count() == 5, 20, "five ends")

    ran = [tick.execution for tick in ticks.order_by("fire_at").select_related("execution")]
    for earlier, later in pairwise(one for one in ran if one is not None):
        assert earlier.finished_at is not None
        assert earlier.finished_at <= later.created_at
