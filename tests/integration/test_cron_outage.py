"""After an outage of three days, the policy decides which missed times start, and each has its
row.
"""

from datetime import timedelta

import pytest

from executions.models import CronTick
from executions.models import WorkflowExecution as Execution
from executions.tasks import start_ticks
from executions.triggers import cron
from tests.support.schedules import every_hour, let_pass, scheduled, statuses

pytestmark = pytest.mark.django_db
OUTAGE = timedelta(days=3)


def test_none_starts_nothing_that_was_missed() -> None:
    trigger = scheduled(schedule=every_hour(), catchUp="none")
    let_pass(trigger, OUTAGE)

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["MISSED"] * 72
    assert not Execution.objects.exists()


def test_latest_starts_the_newest() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="allow")
    let_pass(trigger, OUTAGE)

    newest = cron.fire(trigger.pk)

    assert statuses(trigger) == ["MISSED"] * 71 + ["FIRED"]
    assert newest is not None
    assert newest.execution == Execution.objects.get()
    assert all(tick.reason for tick in CronTick.objects.filter(status="MISSED"))


def test_all_starts_every_time_in_order_up_to_the_limit() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="allow", catchUp="all", catchUpLimit=70)
    let_pass(trigger, OUTAGE)

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["FIRED"] * 70 + ["MISSED"] * 2
    ticks = CronTick.objects.filter(status="FIRED").order_by("fire_at")
    started = [tick.execution.created_at for tick in ticks if tick.execution]
    assert started == sorted(started)
    assert len(started) == 70


def test_all_starts_more_than_one_look_serves() -> None:
    trigger = scheduled(schedule="*/15 * * * *", overlap="allow", catchUp="all", catchUpLimit=250)
    let_pass(trigger, OUTAGE)

    cron.fire(trigger.pk)
    assert statuses(trigger).count("FIRED") == 100
    for _ in range(2):
        start_ticks()

    assert statuses(trigger).count("FIRED") >= 250
    assert "QUEUED" not in statuses(trigger)


def test_the_second_look_after_an_outage_finds_nothing() -> None:
    trigger = scheduled(schedule=every_hour(), catchUp="all", overlap="skip")
    let_pass(trigger, OUTAGE)
    cron.fire(trigger.pk)
    found = statuses(trigger)

    assert cron.fire(trigger.pk) is None
    start_ticks()

    assert statuses(trigger) == found
    assert found[:2] == ["FIRED", "SKIPPED"]


def test_a_long_outage_writes_a_bounded_number_of_rows() -> None:
    trigger = scheduled(schedule="* * * * *", catchUpLimit=20)
    let_pass(trigger, OUTAGE)

    cron.fire(trigger.pk)

    assert CronTick.objects.count() <= 1_020
    summed_up = CronTick.objects.get(reason__contains="that have no rows")
    assert summed_up.status == "MISSED"
