"""CRON triggers: beat's entries follow the published version; no due time fires twice."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from croniter import croniter
from django.db import connection
from django_celery_beat.models import PeriodicTask

from executions import publishing
from executions.actor import Actor
from executions.clock import database_now
from executions.models import Activity, CronTick, Tier, Trigger, Workflow, Workspace
from executions.models import WorkflowExecution as Execution
from executions.tasks import fire_cron
from executions.triggers import cron
from executions.triggers.beat_entries import beat_fields

ACTOR = Actor.system("test")
EVERY_MINUTE = {"type": "CRON", "schedule": "* * * * *"}
NIGHTLY = {"type": "CRON", "schedule": "0 2 * * *", "timezone": "Europe/Berlin"}


def definition(*triggers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "schema": "valkyr/1",
        "name": "nightly",
        "tasks": [{"id": "a", "use": "flow.noop"}],
        "triggers": list(triggers),
        **more,
    }


@pytest.fixture
def workspace(db: None) -> Workspace:
    tier = Tier.objects.get_or_create(name="unlimited")[0]
    return Workspace.objects.get_or_create(slug="default", defaults={"name": "D", "tier": tier})[0]


def publish(workspace: Workspace, *triggers: dict[str, Any], **more: Any) -> Workflow:
    workflow = publishing.create_workflow(
        workspace, name="nightly", definition=definition(*triggers, **more), actor=ACTOR
    )
    publishing.publish(workflow.pk, actor=ACTOR)
    return workflow


def publish_again(workflow: Workflow, *triggers: dict[str, Any]) -> None:
    publishing.update_workflow(
        workflow.pk,
        {"definition": definition(*triggers)},
        actor=ACTOR,
        expected_revision=None,
    )
    publishing.publish(workflow.pk, actor=ACTOR)


def old_trigger(workflow: Workflow, days: int = 30) -> Trigger:
    """The workflow's trigger, as if published long ago."""
    trigger = Trigger.objects.get(workflow=workflow, enabled=True)
    then = database_now() - timedelta(days=days)
    Trigger.objects.filter(pk=trigger.pk).update(created_at=then, enabled_at=then)
    return Trigger.objects.get(pk=trigger.pk)


@pytest.mark.django_db
def test_beat_knocks_by_the_schedule_in_its_own_time_zone(workspace: Workspace) -> None:
    workflow = publish(workspace, NIGHTLY)

    entry = PeriodicTask.objects.get(task="executions.fire_cron")
    assert entry.enabled
    assert entry.queue == "control"
    assert (entry.crontab.minute, entry.crontab.hour) == ("0", "2")
    assert str(entry.crontab.timezone) == "Europe/Berlin"
    assert entry.args == f'["{Trigger.objects.get(workflow=workflow).pk}"]'


@pytest.mark.django_db
def test_entries_follow_the_newest_version(workspace: Workspace) -> None:
    workflow = publish(workspace, NIGHTLY, EVERY_MINUTE)
    kept = Trigger.objects.get(settings__schedule="0 2 * * *")
    hourly = {"type": "CRON", "schedule": "0 * * * *"}

    publish_again(workflow, hourly, NIGHTLY)

    enabled = Trigger.objects.filter(workflow=workflow, enabled=True)
    assert {trigger.settings["schedule"] for trigger in enabled} == {"0 2 * * *", "0 * * * *"}
    assert kept in enabled
    assert PeriodicTask.objects.filter(task="executions.fire_cron").count() == 2


@pytest.mark.django_db
def test_an_archived_workflow_has_no_entries(workspace: Workspace) -> None:
    workflow = publish(workspace, NIGHTLY)

    publishing.archive_workflow(workflow.pk, actor=ACTOR)

    assert not PeriodicTask.objects.filter(task="executions.fire_cron").exists()
    assert not Trigger.objects.filter(enabled=True).exists()


@pytest.mark.django_db
def test_a_due_time_starts_one_execution_however_often_beat_knocks(workspace: Workspace) -> None:
    trigger = old_trigger(publish(workspace, NIGHTLY))

    for _ in range(3):
        fire_cron(str(trigger.pk))

    execution = Execution.objects.get()
    tick = CronTick.objects.get()
    assert tick.execution == execution
    assert execution.trigger_type == "CRON"
    berlin = cron.ZoneInfo("Europe/Berlin")
    assert tick.fire_at.astimezone(berlin).time().isoformat() == "02:00:00"
    assert Activity.objects.filter(action="execution.start", actor_name="schedule").count() == 1


@pytest.mark.django_db
def test_a_time_before_the_trigger_was_published_does_not_fire(workspace: Workspace) -> None:
    workflow = publish(workspace, {"type": "CRON", "schedule": "0 0 1 1 *"})

    assert cron.fire(Trigger.objects.get(workflow=workflow).pk) is None
    assert not Execution.objects.exists()


@pytest.mark.django_db
def test_a_time_that_cannot_start_anything_says_why(workspace: Workspace) -> None:
    switched_off = publish(workspace, EVERY_MINUTE)
    trigger = old_trigger(switched_off)
    publishing.update_workflow(
        switched_off.pk, {"enabled": False}, actor=ACTOR, expected_revision=None
    )

    tick = cron.fire(trigger.pk)

    assert tick is not None
    assert tick.execution is None
    assert tick.reason.startswith("workflow_disabled: ")


@pytest.mark.django_db
def test_a_time_is_skipped_while_an_earlier_execution_runs(workspace: Workspace) -> None:
    trigger = old_trigger(publish(workspace, EVERY_MINUTE))
    first = cron.fire(trigger.pk)
    assert first is not None
    CronTick.objects.update(fire_at=first.fire_at - timedelta(minutes=10))

    second = cron.fire(trigger.pk)

    assert second is not None
    assert "overlap" in second.reason
    assert Execution.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_knocks_at_once_start_one_execution(workspace: Workspace) -> None:
    trigger = old_trigger(publish(workspace, NIGHTLY))
    gate = threading.Barrier(4)

    def knock() -> None:
        try:
            gate.wait(timeout=10)
            cron.fire(trigger.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=knock) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)

    assert CronTick.objects.count() == Execution.objects.count() == 1


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("schedule", "until", "expected"),
    [
        ("0 2 * * *", "2026-06-02T00:00:01", "2026-06-02T00:00:00"),
        ("0 2 * * *", "2026-12-02T00:59:59", "2026-12-01T01:00:00"),
        # Clocks skip 02:30: due when they go on.
        ("30 2 * * *", "2026-03-29T03:00:00", "2026-03-29T01:00:00"),
        # Clocks show 02:30 twice: due once for a named hour, each time for every half hour.
        ("30 2 * * *", "2026-10-25T02:00:00", "2026-10-25T00:30:00"),
        ("*/30 * * * *", "2026-10-25T01:40:00", "2026-10-25T01:30:00"),
    ],
)
def test_due_times_follow_the_clocks_of_the_zone(schedule: str, until: str, expected: str) -> None:
    assert cron.newest_time(schedule, "Europe/Berlin", at(until)) == at(expected)


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
