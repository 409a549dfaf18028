"""Beats, sweeps and executions that end at the same moment: each due time starts once."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import QuerySet

from executions.models import CronTick, Trigger
from executions.models import WorkflowExecution as Execution
from executions.tasks import start_ticks
from executions.triggers import cron
from executions.triggers.cron import start_due
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.schedules import end, every_hour, let_pass, queued, scheduled, statuses

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], object]) -> None:
    """Run each act in a separate session, all starting at the same moment; report errors."""
    gate = threading.Barrier(len(acts))

    def run(act: Callable[[], object]) -> None:
        gate.wait(timeout=60)
        act()

    with Rivals(len(acts)) as rivals:
        for future in [rivals.begin(run, act) for act in acts]:
            future.result(timeout=60)


def started(trigger: Trigger) -> QuerySet[Execution]:
    return Execution.objects.filter(trigger=trigger)


def test_knocks_and_sweeps_at_once_start_each_time_once() -> None:
    trigger = scheduled(schedule=every_hour(), catchUp="all", overlap="allow")
    let_pass(trigger, timedelta(hours=12))

    at_once(*[lambda: cron.fire(trigger.pk)] * 4, *[start_ticks] * 4)
    start_ticks()

    assert statuses(trigger) == ["FIRED"] * 12
    assert started(trigger).count() == 12


def test_a_second_knock_waits_for_the_first_and_finds_nothing() -> None:
    trigger = scheduled(schedule=every_hour())
    let_pass(trigger, timedelta(hours=1))
    with Rivals() as rivals:
        with transaction.atomic():
            Trigger.objects.select_for_update(no_key=True).get(pk=trigger.pk)
            knocks = [rivals.begin(cron.fire, trigger.pk) for _ in range(2)]
            wait_until_blocked(my_session())
        found = [knock.result(timeout=60) for knock in knocks]

    assert found.count(None) == 1
    assert started(trigger).count() == CronTick.objects.filter(trigger=trigger).count() == 1


def test_a_sweep_leaves_a_trigger_that_is_being_served_alone() -> None:
    trigger = scheduled(schedule=every_hour())
    queued(trigger, 1)
    with Rivals() as rivals, transaction.atomic():
        Trigger.objects.select_for_update(no_key=True).get(pk=trigger.pk)

        assert rivals.begin(start_ticks).result(timeout=60) == {
            "followed": 0,
            "noted": 0,
            "started": 0,
        }
    assert statuses(trigger) == ["QUEUED"]


def test_one_queued_time_starts_when_its_execution_ends_and_others_look() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="queue")
    queued(trigger, 4)
    start_due(trigger.pk)
    first = started(trigger).get()

    at_once(lambda: end(first), *[start_ticks] * 3, *[lambda: start_due(trigger.pk)] * 3)
    start_ticks()

    assert statuses(trigger) == ["FIRED", "FIRED", "QUEUED", "QUEUED"]
    assert started(trigger).filter(state="RUNNING").count() == 1
