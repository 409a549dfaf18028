"""A schedule is due while the execution of an earlier time is still running."""

from datetime import timedelta
from typing import Any

import pytest

from executions import lifecycle
from executions.database.clock import database_now
from executions.models import Activity, CronTick, Tier, Trigger
from executions.models import WorkflowExecution as Execution
from executions.publishing import versioning
from executions.states import ExecutionState
from executions.tasks import start_ticks
from executions.triggers import beat_entries, cron, sync
from executions.triggers.cron import MAX_QUEUED, start_due
from executions.triggers.cron_schedule import delay
from tests.support.schedules import ACTOR, end, every_hour, let_pass, queued, scheduled, statuses

pytestmark = pytest.mark.django_db(transaction=True)
DAY = timedelta(days=1)
LONG_AGO = timedelta(days=400)
MINUTE = timedelta(minutes=1)


def busy(overlap: str, **settings: Any) -> tuple[Trigger, Execution]:
    """Create an hourly trigger whose first execution runs."""
    trigger = scheduled(schedule=every_hour(), overlap=overlap, **settings)
    [tick] = queued(trigger, 1)
    CronTick.objects.update(fire_at=tick.fire_at - LONG_AGO)
    start_due(trigger.pk)
    return trigger, Execution.objects.get(trigger=trigger)


def test_skip_leaves_the_time_out_and_says_so() -> None:
    trigger, _ = busy("skip")
    let_pass(trigger, timedelta(hours=1))

    tick = cron.fire(trigger.pk)

    assert tick is not None
    assert tick.status == "SKIPPED"
    assert "overlap is skip" in tick.reason
    assert Execution.objects.count() == 1


def test_skip_fires_again_when_the_execution_has_ended() -> None:
    trigger, first = busy("skip")
    end(first, ExecutionState.FAILED)
    let_pass(trigger, timedelta(hours=1))

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["FIRED", "FIRED"]


def test_an_execution_that_a_person_started_is_no_overlap() -> None:
    trigger, first = busy("skip")
    Execution.objects.filter(pk=first.pk).update(trigger=None, trigger_type="MANUAL")
    let_pass(trigger, timedelta(hours=1))

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["FIRED", "FIRED"]


def test_queued_times_start_one_after_another_as_the_executions_end() -> None:
    trigger, running = busy("queue")
    queued(trigger, 3)

    start_due(trigger.pk)
    assert statuses(trigger) == ["FIRED", "QUEUED", "QUEUED", "QUEUED"]
    ends = [
        ExecutionState.SUCCESS,
        ExecutionState.FAILED,
        ExecutionState.CANCELLED,
    ]
    for number, state in enumerate(ends, start=2):
        if state == ExecutionState.CANCELLED:
            lifecycle.cancel(running.pk, actor=ACTOR)
        else:
            end(running, state)
        assert statuses(trigger) == ["FIRED"] * number + ["QUEUED"] * (4 - number)
        running = Execution.objects.get(trigger=trigger, state="RUNNING")

    ticks = CronTick.objects.filter(trigger=trigger).order_by("fire_at")
    started = [tick.execution.created_at for tick in ticks if tick.execution]
    assert started == sorted(started)


def test_a_queued_time_starts_although_nobody_told_that_the_execution_ended() -> None:
    trigger, running = busy("queue")
    queued(trigger, 2)
    start_ticks()
    assert statuses(trigger) == ["FIRED", "QUEUED", "QUEUED"]
    # As if the process had ended between the commit and what follows it.
    Execution.objects.filter(pk=running.pk).update(state="SUCCESS", finished_at=running.created_at)

    start_ticks()

    assert statuses(trigger) == ["FIRED", "FIRED", "QUEUED"]


def test_no_more_than_a_bounded_number_of_times_wait() -> None:
    trigger, _ = busy("queue")
    queued(trigger, MAX_QUEUED)
    Trigger.objects.filter(pk=trigger.pk).update(
        settings=trigger.settings | {"schedule": "* * * * *"}
    )
    entry = beat_entries.entry_of(trigger)
    assert entry is not None
    trigger.refresh_from_db()
    entry.crontab = beat_entries.published_crontab(trigger)
    entry.save()
    let_pass(trigger, timedelta(seconds=70))

    tick = cron.fire(trigger.pk)

    assert tick is not None
    assert tick.status == "SKIPPED"
    assert "1,000 earlier fire times are already waiting" in tick.reason
    assert statuses(trigger).count("QUEUED") == MAX_QUEUED


def test_cancel_previous_ends_the_earlier_execution_and_starts() -> None:
    trigger, first = busy("cancelPrevious")
    let_pass(trigger, timedelta(hours=1))

    tick = cron.fire(trigger.pk)

    assert tick is not None
    assert tick.execution is not None
    assert tick.execution.state == "RUNNING"
    first.refresh_from_db()
    assert first.state == "CANCELLED"
    cancelled = Activity.objects.get(action="execution.cancel", object_id=first.pk)
    assert cancelled.actor_name == "schedule"


def test_cancel_previous_gives_the_new_execution_the_place_of_the_earlier() -> None:
    trigger, first = busy("cancelPrevious")
    small = Tier.objects.create(name="small", max_concurrent=1, max_pending=5)
    workspace = trigger.workflow.workspace
    workspace.tier = small
    workspace.save()
    let_pass(trigger, timedelta(hours=1))

    cron.fire(trigger.pk)

    states = Execution.objects.order_by("created_at").values_list("state", flat=True)
    assert list(states) == ["CANCELLED", "RUNNING"]
    assert first.pk == Execution.objects.order_by("created_at")[0].pk


def test_cancel_previous_cancels_nothing_when_it_cannot_start() -> None:
    trigger, first = busy("cancelPrevious")
    versioning.update_workflow(
        trigger.workflow_id, {"enabled": False}, actor=ACTOR, expected_revision=None
    )
    let_pass(trigger, timedelta(hours=1))

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["FIRED", "REFUSED"]
    first.refresh_from_db()
    assert first.state == "RUNNING"


def test_of_several_times_that_would_cancel_each_other_the_newest_starts() -> None:
    trigger, first = busy("cancelPrevious", catchUp="all")
    let_pass(trigger, timedelta(hours=3))

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["FIRED", "SKIPPED", "SKIPPED", "FIRED"]
    first.refresh_from_db()
    assert first.state == "CANCELLED"
    assert Execution.objects.count() == 2


def test_allow_starts_beside_the_earlier_execution() -> None:
    trigger, _ = busy("allow")
    let_pass(trigger, timedelta(hours=1))

    cron.fire(trigger.pk)

    assert statuses(trigger) == ["FIRED", "FIRED"]
    assert set(Execution.objects.values_list("state", flat=True)) == {"RUNNING"}


def test_switching_a_trigger_off_skips_what_waits() -> None:
    trigger, running = busy("queue")
    queued(trigger, 2)
    sync.switch(trigger.pk, enabled=False, actor=ACTOR)

    start_ticks()

    assert statuses(trigger) == ["FIRED", "SKIPPED", "SKIPPED"]
    assert "was disabled" in CronTick.objects.filter(status="SKIPPED")[0].reason
    end(running)
    assert Execution.objects.count() == 1


def test_archiving_a_workflow_skips_what_waits() -> None:
    trigger, running = busy("queue")
    queued(trigger, 1)
    versioning.archive_workflow(trigger.workflow_id, actor=ACTOR)

    end(running)

    assert statuses(trigger) == ["FIRED", "SKIPPED"]
    assert Execution.objects.count() == 1


def test_a_jittered_time_has_its_row_at_once_and_starts_later() -> None:
    # The delay follows from the trigger's id: one that begins after the test.
    late = timedelta(minutes=10)
    while True:
        trigger = scheduled(jitterSeconds=3600, schedule="* * * * *", overlap="allow")
        since = let_pass(trigger, timedelta(seconds=60))
        minutes = [since.replace(second=0, microsecond=0) + MINUTE * n for n in (1, 2)]
        if all(delay(trigger.pk, minute, 3600) > late for minute in minutes):
            break
    cron.fire(trigger.pk)
    # Nothing more is due: a minute may end during the test.
    Trigger.objects.update(next_at=database_now() + DAY)
    ticks = CronTick.objects.filter(trigger=trigger, status="QUEUED")
    assert ticks
    assert all(tick.start_at and tick.start_at > tick.fire_at for tick in ticks)
    assert "jitter" in ticks[0].reason
    assert not Execution.objects.exists()

    ticks.update(start_at=since)
    start_ticks()

    # A time a few seconds away is included as well, and of two the earlier one is missed.
    assert set(statuses(trigger)) - {"MISSED"} == {"FIRED"}


def test_a_queued_time_waits_for_an_earlier_one_that_is_still_jittered() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="queue", jitterSeconds=60)
    first, second = queued(trigger, 2)
    CronTick.objects.filter(pk=first.pk).update(start_at=first.fire_at + DAY)

    start_ticks()
    assert statuses(trigger) == ["QUEUED", "QUEUED"]
    CronTick.objects.filter(pk=first.pk).update(start_at=first.fire_at)
    start_ticks()

    assert statuses(trigger) == ["FIRED", "QUEUED"]
    assert CronTick.objects.get(pk=second.pk).execution is None


def test_queued_times_of_a_workflow_that_ends_at_once_start_in_turn() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="queue", tasks=[])
    queued(trigger, 130)

    assert start_due(trigger.pk) == 100
    start_ticks()

    assert statuses(trigger) == ["FIRED"] * 130
    ticks = CronTick.objects.order_by("fire_at").select_related("execution")
    started = [tick.execution.created_at for tick in ticks if tick.execution]
    assert started == sorted(started)
