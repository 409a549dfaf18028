"""Beat's own admin changes schedules: disabling, editing or deleting an entry takes effect."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django_celery_beat.models import CrontabSchedule, IntervalSchedule, PeriodicTask

from executions.access.actor import Actor
from executions.models import Activity, CronTick, Trigger, WorkflowExecution
from executions.triggers import beat_admin, cron, sync
from tests.support.copies import session
from tests.support.schedules import let_pass, scheduled

pytestmark = pytest.mark.django_db
ACTOR = Actor.system("tests")


@pytest.fixture
def op(client: Client, django_user_model: type, static_files: None) -> Client:
    boss = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(boss)
    return client


@pytest.fixture
def trigger() -> Trigger:
    return scheduled()


def entry_of(trigger: Trigger) -> PeriodicTask:
    return PeriodicTask.objects.get(task="executions.fire_cron", args=json.dumps([str(trigger.pk)]))


def edit(op: Client, entry: PeriodicTask, **changes: Any) -> None:
    """Submit the form of beat's own page with some fields changed."""
    address = reverse("admin:django_celery_beat_periodictask_change", args=[entry.pk])
    form = op.get(address).context["adminform"].form
    sent = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in sent.items() if value not in (None, False)} | changes
    sent = {name: "" if value is None else value for name, value in sent.items()}
    answer = op.post(address, sent)
    assert answer.status_code == 302, answer.context["adminform"].form.errors


def act(op: Client, action: str, entry: PeriodicTask, **more: Any) -> None:
    address = reverse("admin:django_celery_beat_periodictask_changelist")
    answer = op.post(address, {"action": action, "_selected_action": [entry.pk], **more})
    assert answer.status_code == 302


def told(trigger: Trigger) -> list[tuple[str, str]]:
    rows = Activity.objects.filter(object_id=str(trigger.pk), actor_name="beat")
    return list(rows.order_by("id").values_list("action", "reason"))


def test_an_entry_disabled_in_bulk_starts_nothing_although_the_schedule_is_due(
    op: Client, trigger: Trigger
) -> None:
    act(op, "disable_tasks", entry_of(trigger))
    let_pass(trigger, timedelta(minutes=3))

    assert cron.tend()["started"] == 0
    assert cron.fire(trigger.pk) is None
    trigger.refresh_from_db()
    assert not trigger.enabled
    assert told(trigger) == [("trigger.disable", beat_admin.DISABLED)]
    assert not WorkflowExecution.objects.filter(trigger=trigger).exists()


def test_a_knock_that_comes_before_anybody_looked_starts_nothing(
    op: Client, trigger: Trigger
) -> None:
    act(op, "disable_tasks", entry_of(trigger))
    let_pass(trigger, timedelta(minutes=3))

    assert cron.fire(trigger.pk) is None


def test_an_entry_enabled_again_goes_on_from_then(op: Client, trigger: Trigger) -> None:
    act(op, "disable_tasks", entry_of(trigger))
    beat_admin.follow_all()
    let_pass(trigger, timedelta(hours=2))

    act(op, "enable_tasks", entry_of(trigger))
    beat_admin.follow_all()

    trigger.refresh_from_db()
    assert trigger.enabled
    assert cron.tend()["noted"] == 0
    assert not CronTick.objects.filter(trigger=trigger).exists()


@pytest.mark.django_db(transaction=True)
def test_a_change_of_a_locked_trigger_is_applied_after_the_lock(op: Client) -> None:
    trigger = scheduled()
    act(op, "disable_tasks", entry_of(trigger))
    beat_admin.follow_all()
    act(op, "enable_tasks", entry_of(trigger))

    with session() as other, other.transaction():
        other.execute("SELECT 1 FROM executions_trigger WHERE id = %s FOR UPDATE", [trigger.pk])
        assert beat_admin.follow_all() == 0

    assert beat_admin.follow_all() == 1
    trigger.refresh_from_db()
    assert trigger.enabled


def test_another_crontab_is_followed_and_shown(op: Client, trigger: Trigger) -> None:
    crontab = CrontabSchedule.objects.create(minute="7", hour="3", timezone="Europe/Berlin")

    edit(op, entry_of(trigger), crontab=crontab.pk)
    beat_admin.follow_all()

    trigger.refresh_from_db()
    assert trigger.beat == {"schedule": "7 3 * * *", "timezone": "Europe/Berlin"}
    assert trigger.next_at is not None
    assert trigger.next_at.minute == 7
    assert told(trigger) == [("trigger.reschedule", beat_admin.CHANGED)]
    page = op.get(reverse("admin:executions_trigger_change", args=[trigger.pk])).content.decode()
    entry = reverse("admin:django_celery_beat_periodictask_change", args=[entry_of(trigger).pk])
    assert entry in page
    assert "instead of * * * * *" in page


def test_a_crontab_that_several_entries_share_is_followed_by_each(
    op: Client, trigger: Trigger
) -> None:
    other = scheduled()
    shared = entry_of(trigger).crontab
    assert shared == entry_of(other).crontab
    address = reverse("admin:django_celery_beat_crontabschedule_change", args=[shared.pk])
    form = op.get(address).context["adminform"].form
    sent = {name: form[name].value() for name in form.fields} | {"minute": "30"}

    sent |= {"periodictask_set-TOTAL_FORMS": 0, "periodictask_set-INITIAL_FORMS": 0}
    assert op.post(address, sent).status_code == 302
    beat_admin.follow_all()

    for one in (trigger, other):
        one.refresh_from_db()
        assert one.beat == {"schedule": "30 * * * *", "timezone": "UTC"}


def test_the_published_crontab_ends_the_other_one(op: Client, trigger: Trigger) -> None:
    entry = entry_of(trigger)
    published = entry.crontab
    other = CrontabSchedule.objects.create(minute="7", timezone="UTC")
    edit(op, entry, crontab=other.pk)
    beat_admin.follow_all()

    edit(op, entry_of(trigger), crontab=published.pk)
    beat_admin.follow_all()

    trigger.refresh_from_db()
    assert trigger.beat is None
    assert told(trigger)[-1] == ("trigger.reschedule", beat_admin.RESTORED)


def test_an_interval_is_refused_with_the_reason(op: Client, trigger: Trigger) -> None:
    every = IntervalSchedule.objects.create(every=10, period="seconds")

    edit(op, entry_of(trigger), crontab=None, interval=every.pk)
    beat_admin.follow_all()

    entry = entry_of(trigger)
    assert entry.interval is None
    assert str(entry.crontab.minute) == "*"
    assert entry.description.startswith(beat_admin.NO_CRONTAB)
    trigger.refresh_from_db()
    assert trigger.enabled


def test_a_deleted_entry_switches_the_trigger_off(op: Client, trigger: Trigger) -> None:
    act(op, "delete_selected", entry_of(trigger), post="yes")
    beat_admin.follow_all()

    trigger.refresh_from_db()
    assert not trigger.enabled
    assert told(trigger) == [("trigger.disable", beat_admin.DELETED)]

    sync.switch(trigger.pk, enabled=True, actor=ACTOR)
    assert entry_of(trigger).enabled


def test_a_renamed_entry_stays_the_triggers(op: Client, trigger: Trigger) -> None:
    edit(op, entry_of(trigger), name="nightly report")
    beat_admin.follow_all()
    trigger.refresh_from_db()
    assert trigger.enabled

    sync.switch(trigger.pk, enabled=False, actor=ACTOR)

    assert not entry_of(trigger).enabled
    assert entry_of(trigger).name == "nightly report"


def test_switching_a_trigger_off_disables_its_entry_and_keeps_its_crontab(
    op: Client, trigger: Trigger
) -> None:
    crontab = CrontabSchedule.objects.create(minute="7", timezone="UTC")
    edit(op, entry_of(trigger), crontab=crontab.pk)
    beat_admin.follow_all()

    sync.switch(trigger.pk, enabled=False, actor=ACTOR)
    assert not entry_of(trigger).enabled
    sync.switch(trigger.pk, enabled=True, actor=ACTOR)

    trigger.refresh_from_db()
    assert entry_of(trigger).crontab == crontab
    assert trigger.beat is not None


def test_beats_admin_is_its_own(op: Client) -> None:
    from django.contrib import admin
    from django_celery_beat.admin import PeriodicTaskAdmin

    assert isinstance(admin.site.get_model_admin(PeriodicTask), PeriodicTaskAdmin)
    assert op.get(reverse("admin:django_celery_beat_periodictask_add")).status_code == 200
