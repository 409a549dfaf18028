"""The state of sent entries that beat saves, and the times at which it saves it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import connection
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from valkyr.beat import entries, often
from valkyr_project.messaging import beat

pytestmark = pytest.mark.django_db(transaction=True)  # beat closes connections

QUICK, HOURLY, CRON = "valkyr: due retries", "valkyr: sessions", "cron of somebody's"


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> beat.ElectedScheduler:
    """Return a beat that has just saved everything, including a user's entry."""
    PeriodicTask.objects.create(
        name=CRON, task="executions.fire_cron", crontab=CrontabSchedule.objects.create()
    )
    made = beat.ElectedScheduler(app=current_app._get_current_object())
    assert {QUICK, HOURLY, CRON} <= made.schedule.keys()
    made.sync()
    # Sent messages are not delivered: only whether they are recorded matters.
    monkeypatch.setattr(made, "send_task", lambda *args, **options: None)
    return made


@pytest.fixture
def sent(scheduler: beat.ElectedScheduler) -> Callable[[str], Any]:
    """Return a function that sends an entry and returns how often the database counts it as
    sent.
    """

    def send(name: str) -> int:
        entry = scheduler.schedule[name]
        scheduler.reserve(entry)
        scheduler.apply_entry(entry)
        return count(name)

    return send


def count(name: str) -> int:
    return PeriodicTask.objects.get(name=name).total_run_count


def test_what_is_sent_every_few_seconds_is_written_down_once_a_minute(
    scheduler: beat.ElectedScheduler, sent: Callable[[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [sent(QUICK) for _ in range(3)] == [0, 0, 0]

    monkeypatch.setattr(beat, "LAG_SECONDS", 0.0)

    assert sent(QUICK) == 4
    row = PeriodicTask.objects.get(name=QUICK)
    assert row.last_run_at == scheduler.schedule[QUICK].model.last_run_at


@pytest.mark.parametrize("name", [HOURLY, CRON])
def test_what_is_sent_seldom_is_written_down_at_once_with_all_the_rest(
    sent: Callable[[str], int], name: str
) -> None:
    sent(QUICK)

    assert sent(name) == 1
    assert count(QUICK) == 1


@pytest.mark.parametrize("how", ["close", "reread"])
def test_nothing_is_forgotten_at_an_end_or_where_entries_are_read_anew(
    scheduler: beat.ElectedScheduler, sent: Callable[[str], int], how: str
) -> None:
    sent(QUICK)

    if how == "close":
        scheduler.close()
    else:
        PeriodicTask.objects.get(name=CRON).save()
        assert scheduler.schedule[QUICK].total_run_count == 1

    assert count(QUICK) == 1


def test_whoever_ends_it_amid_a_query_does_not_wait_for_ever(
    scheduler: beat.ElectedScheduler, sent: Callable[[str], int]
) -> None:
    sent(QUICK)
    with connection.connection.lock:  # as if the interrupted process held it
        scheduler.sync()
    assert count(QUICK) == 0

    scheduler.sync()
    assert count(QUICK) == 1


def test_duties_of_every_few_seconds_are_those() -> None:
    frequent = {name: entries()[name]["schedule"] for name in often()}

    assert max(frequent.values()) < timedelta(minutes=1)
    assert HOURLY not in frequent
    assert QUICK in frequent
