"""CRON triggers: beat's entries follow the published version, and no due time starts twice."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from django_celery_beat.models import PeriodicTask

from executions.database.clock import database_now
from executions.models import Activity, CronTick, Trigger, Workflow
from executions.models import WorkflowExecution as Execution
from executions.publishing import versioning
from executions.tasks import fire_cron, start_ticks
from executions.triggers import cron, sync
from executions.triggers.beat_entries import beat_fields
from tests.support.schedules import (
    ACTOR,
    EVERY_MINUTE,
    definition,
    let_pass,
    publish,
    scheduled,
    statuses,
)

NIGHTLY = {"type": "CRON", "schedule": "0 2 * * *", "timezone": "Europe/Berlin"}
MONTH = timedelta(days=30)


def publish_again(workflow: Workflow, *triggers: dict[str, str]) -> None:
    versioning.update_workflow(
        workflow.pk,
        {"definition": definition(*triggers)},
        actor=ACTOR,
        expected_revision=None,
    )
    versioning.publish(workflow.pk, actor=ACTOR)


def the_trigger(workflow: Workflow) -> Trigger:
    return Trigger.objects.get(workflow=workflow, enabled=True)


@pytest.mark.django_db
def test_beat_knocks_by_the_schedule_in_its_own_time_zone() -> None:
    workflow = publish(NIGHTLY)

    entry = PeriodicTask.objects.get(task="executions.fire_cron")
    assert entry.enabled
    assert entry.queue == "control"
    assert (entry.crontab.minute, entry.crontab.hour) == ("0", "2")
    assert str(entry.crontab.timezone) == "Europe/Berlin"
    assert entry.args == f'["{the_trigger(workflow).pk}"]'


@pytest.mark.django_db
def test_entries_follow_the_newest_version() -> None:
    workflow = publish(NIGHTLY, EVERY_MINUTE)
    kept = Trigger.objects.get(settings__schedule="0 2 * * *")
    hourly = {"type": "CRON", "schedule": "0 * * * *"}

    publish_again(workflow, hourly, NIGHTLY)

    enabled = Trigger.objects.filter(workflow=workflow, enabled=True)
    assert {trigger.settings["schedule"] for trigger in enabled} == {"0 2 * * *", "0 * * * *"}
    assert kept in enabled
    assert PeriodicTask.objects.filter(task="executions.fire_cron").count() == 2


@pytest.mark.django_db
def test_an_archived_workflow_has_no_entries() -> None:
    workflow = publish(NIGHTLY)

    versioning.archive_workflow(workflow.pk, actor=ACTOR)

    assert not PeriodicTask.objects.filter(task="executions.fire_cron").exists()
    assert not Trigger.objects.filter(enabled=True).exists()


@pytest.mark.django_db
def test_a_due_time_starts_one_execution_however_often_beat_knocks() -> None:
    trigger = the_trigger(publish(NIGHTLY))
    let_pass(trigger, timedelta(hours=26))

    for _ in range(3):
        fire_cron(str(trigger.pk))

    execution = Execution.objects.get()
    tick = CronTick.objects.get(status="FIRED")
    assert tick.execution == execution
    assert execution.trigger == trigger
    assert execution.trigger_type == "CRON"
    assert tick.fire_at.astimezone(ZoneInfo("Europe/Berlin")).strftime("%H:%M:%S") == "02:00:00"
    assert Activity.objects.filter(action="execution.start", actor_name="schedule").count() == 1


@pytest.mark.django_db
def test_a_schedule_starts_without_beats_knock() -> None:
    trigger = scheduled()
    let_pass(trigger, timedelta(seconds=70))

    start_ticks()

    assert "FIRED" in statuses(trigger)
    trigger.refresh_from_db()
    assert trigger.next_at is not None
    assert trigger.next_at > database_now()


@pytest.mark.django_db
def test_a_time_before_the_trigger_was_published_does_not_fire() -> None:
    workflow = publish({"type": "CRON", "schedule": "0 0 1 1 *"})

    assert cron.fire(the_trigger(workflow).pk) is None
    assert not Execution.objects.exists()


@pytest.mark.django_db
def test_a_time_that_cannot_start_anything_says_why() -> None:
    trigger = scheduled()
    versioning.update_workflow(
        trigger.workflow_id, {"enabled": False}, actor=ACTOR, expected_revision=None
    )
    let_pass(trigger, timedelta(seconds=70))

    tick = cron.fire(trigger.pk)

    assert tick is not None
    assert tick.status == "REFUSED"
    assert tick.execution is None
    assert tick.reason.startswith("workflow_disabled: ")


@pytest.mark.django_db
def test_a_trigger_that_is_switched_off_fires_nothing_and_catches_nothing_up() -> None:
    trigger = scheduled(catchUp="all")
    sync.switch(trigger.pk, enabled=False, actor=ACTOR)
    let_pass(trigger, MONTH)

    assert cron.fire(trigger.pk) is None
    start_ticks()
    sync.switch(trigger.pk, enabled=True, actor=ACTOR)

    trigger.refresh_from_db()
    assert trigger.next_at is not None
    assert trigger.next_at > trigger.enabled_at
    assert not CronTick.objects.exists()


@pytest.mark.django_db
def test_a_schedule_fires_from_its_start_to_its_end() -> None:
    now = database_now()
    hour = timedelta(hours=1)
    over = scheduled(startAt=(now - 6 * hour).isoformat(), endAt=(now - 3 * hour).isoformat(),
                     schedule="0 * * * *", catchUp="all", overlap="allow")  # fmt: skip
    later = scheduled(startAt=(now + hour).isoformat(), schedule="0 * * * *")
    assert later.next_at is not None
    assert later.next_at >= now + hour
    let_pass(over, MONTH)

    cron.fire(over.pk)
    cron.fire(later.pk)

    assert statuses(over) == ["FIRED"] * 3
    over.refresh_from_db()
    assert over.next_at is None
    assert statuses(later) == []


@pytest.mark.parametrize(
    ("schedule", "fields"),
    [
        ("0 2 * * *", ("0", "2", "*", "*", "*")),
        ("5/15 8-17 * jan MON-FRI", ("5,20,35,50", "8-17", "*", "jan", "MON-FRI")),
        ("0 0 1 * mon", ("0", "0", "*", "*", "*")),
        ("0 0 L * *", ("0", "0", "*", "*", "*")),
        ("0 0 * * 7", ("0", "0", "*", "*", "0")),
    ],
)
def test_beat_knocks_whenever_the_schedule_is_due(schedule: str, fields: tuple[str, ...]) -> None:
    from celery.schedules import crontab

    found = beat_fields(schedule)

    assert tuple(found.values()) == fields
    entry = crontab(
        minute=found["minute"],
        hour=found["hour"],
        day_of_month=found["day_of_month"],
        month_of_year=found["month_of_year"],
        day_of_week=found["day_of_week"],
    )
    times = croniter(schedule, datetime(2026, 1, 1, tzinfo=UTC))
    for _ in range(50):
        due = times.get_next(datetime)
        assert due.minute in entry.minute
        assert due.hour in entry.hour
        assert due.day in entry.day_of_month
        assert due.month in entry.month_of_year
        assert due.isoweekday() % 7 in entry.day_of_week


def test_every_task_that_beat_sends_exists() -> None:
    from celery import current_app

    current_app.loader.import_default_modules()
    current_app.finalize()

    sent = {entry["task"] for entry in current_app.conf.beat_schedule.values()}
    assert "executions.start_ticks" in sent
    assert sent <= set(current_app.tasks)
