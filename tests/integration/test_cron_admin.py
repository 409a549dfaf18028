"""The list and pages of ticks show status and reason; the list can be filtered by status."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from executions.admin.trigger_calendar import COUNTED
from executions.database.clock import database_now
from executions.models import CronTick, Trigger
from executions.triggers import cron, sync
from tests.support.schedules import ACTOR, every_hour, let_pass, queued, scheduled

pytestmark = pytest.mark.django_db
TICKS = "/admin/executions/crontick/"


@pytest.fixture
def op(client: Client, django_user_model: type, static_files: None) -> Client:
    boss = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(boss)
    return client


@pytest.fixture
def trigger() -> Trigger:
    """Create a trigger with a missed tick and one that was caught up."""
    made = scheduled(schedule=every_hour(), timezone="Europe/Berlin")
    let_pass(made, timedelta(hours=2))
    cron.fire(made.pk)
    return made


def shown(op: Client, status: str) -> list[str]:
    answer = op.get(TICKS, {"status": status})
    assert answer.status_code == 200
    return [tick.status for tick in answer.context["cl"].result_list]


def test_the_list_shows_each_time_with_its_status_and_reason(op: Client, trigger: Trigger) -> None:
    page = op.get(TICKS).content.decode()

    assert "missed" in page
    assert "started" in page
    assert "Missed: no process checked the schedule at that time." in page
    assert "Missed at its time, and started later." in page


def test_the_list_is_narrowed_by_status(op: Client, trigger: Trigger) -> None:
    queued(scheduled(overlap="queue"), 2)

    assert shown(op, "missed") == ["MISSED"]
    assert shown(op, "started") == ["FIRED"]
    assert shown(op, "queued") == ["QUEUED", "QUEUED"]
    assert shown(op, "skipped") == shown(op, "rejected") == []
    assert len(shown(op, "")) == 4


@pytest.mark.parametrize("status", ["FIRED", "MISSED", "QUEUED"])
def test_a_ticks_page_tells_the_time_in_its_zone_and_what_became_of_it(
    op: Client, trigger: Trigger, status: str
) -> None:
    queued(scheduled(overlap="queue"), 1)
    tick = CronTick.objects.filter(status=status)[0]

    page = op.get(f"{TICKS}{tick.pk}/change/").content.decode()

    assert f"{tick.fire_at:%Y-%m-%d %H:%M}" in page
    assert ("Europe/Berlin" in page) == (tick.trigger == trigger)
    assert tick.reason in page


def test_a_triggers_page_says_when_it_is_due_next(op: Client, trigger: Trigger) -> None:
    page = f"/admin/executions/trigger/{trigger.pk}/change/"
    assert "in " in op.get(page).content.decode().split("Next fire time")[1][:400]

    sync.switch(trigger.pk, enabled=False, actor=ACTOR)

    assert "none: disabled" in op.get(page).content.decode()


def test_a_schedules_page_shows_its_next_times_and_the_latest_results(
    op: Client, trigger: Trigger
) -> None:
    page = op.get(f"/admin/executions/trigger/{trigger.pk}/change/")

    sections = {each.title: each for each in page.context["page"].sections}
    ahead = [row[0] for row in sections["Next fire times"].rows]
    assert len(ahead) == 5
    assert ahead == sorted(ahead)
    assert len(sections["Latest fire times"].rows) == trigger.ticks.count()
    assert "Missed: no process checked the schedule at that time." in page.content.decode()


def test_a_disabled_schedule_has_no_next_times(op: Client, trigger: Trigger) -> None:
    sync.switch(trigger.pk, enabled=False, actor=ACTOR)

    page = op.get(f"/admin/executions/trigger/{trigger.pk}/change/").content.decode()

    assert "The schedule is disabled, or it has no fire times in the next 400 days." in page


def calendar(op: Client, trigger: Trigger) -> list[str]:
    """Return the days of a schedule's calendar, Monday first."""
    page = op.get(f"/admin/executions/trigger/{trigger.pk}/change/")
    [found] = [each for each in page.context["page"].sections if each.title == "Calendar"]
    return [str(cell) for week in found.rows for cell in week]


def test_a_calendar_counts_the_times_of_past_and_future_days(op: Client) -> None:
    trigger = scheduled(schedule="30 2 * * *", timezone="Europe/Berlin")
    week = timedelta(days=7)
    today = database_now()
    CronTick.objects.create(
        trigger=trigger, fire_at=today - week, status="SKIPPED", reason="overlap"
    )

    days = calendar(op, trigger)

    assert len(days) == 35
    [now] = [number for number, day in enumerate(days) if "today" in day]
    assert now // 7 == 2
    assert "1 skipped" in days[now - 7]
    assert all("1 due" in day for day in days[now + 1 :])
    assert not any("due" in day for day in days[:now])


def test_a_calendar_does_not_count_the_times_of_a_pause(op: Client) -> None:
    trigger = scheduled(schedule="30 2 * * *")
    sync.pause(trigger.pk, until=database_now() + timedelta(days=3), actor=ACTOR)

    days = calendar(op, trigger)

    [now] = [number for number, day in enumerate(days) if "today" in day]
    assert not any("due" in day for day in days[now : now + 3])
    assert "1 due" in days[now + 4]


def test_a_calendar_of_many_times_stops_counting(op: Client) -> None:
    days = calendar(op, scheduled())

    assert "more due" in days[-1]
    [last] = [day for day in days if "+ due" in day]
    assert "more due" in days[days.index(last) + 1]
    counts = [int(found) for day in days for found in re.findall(r"(\d+)\+? due", day)]
    assert sum(counts) == COUNTED
