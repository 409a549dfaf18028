"""A schedule pauses until a time, continues after it, and runs once on demand."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.errors import WrongState
from executions.models import Activity, Membership, Trigger, WorkflowExecution
from executions.triggers import cron, sync
from executions.triggers.cron_schedule import GRACE
from executions.triggers.operations import RUN_NOW
from tests.contract.people import an_author
from tests.support.schedules import ACTOR, let_pass, queued, scheduled, statuses, workspace

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _fresh_cache(static_files: None) -> None:
    cache.clear()


def signed_in(django_user_model: Any, role: str) -> Client:
    user = django_user_model.objects.create(username=role, is_staff=True)
    Membership.objects.create(user=user, workspace=workspace(), role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def client(django_user_model: Any) -> Client:
    """Return a client of a user who may edit workflows and run them."""
    return signed_in(django_user_model, "ADMIN")


@pytest.fixture
def author() -> APIClient:
    """Return an API client of a user who may write workflows."""
    workspace()
    return an_author()


def patch(api: APIClient, trigger: Trigger, **body: Any) -> Any:
    return api.patch(f"/v1/Trigger/{trigger.pk}", body, format="json")


def test_a_paused_schedule_starts_nothing_until_the_end_of_its_pause() -> None:
    trigger = scheduled(catchUp="all")
    until = database_now() + HOUR

    paused = sync.pause(trigger.pk, until=until, actor=ACTOR, reason="maintenance")

    assert paused.next_at is not None
    assert until <= paused.next_at < until + timedelta(minutes=1)
    let_pass(trigger, HOUR)
    assert cron.fire(trigger.pk) is None
    assert not WorkflowExecution.objects.exists()
    said = Activity.objects.get(action="trigger.pause")
    assert (said.reason, said.after) == ("maintenance", {"pausedUntil": until.isoformat()})


def test_a_schedule_continues_after_its_pause_and_does_not_catch_up_on_it() -> None:
    trigger = scheduled(catchUp="all")
    sync.pause(trigger.pk, until=database_now() + HOUR, actor=ACTOR)
    since = let_pass(trigger, 2 * HOUR)

    Trigger.objects.filter(pk=trigger.pk).update(paused_until=since + HOUR + timedelta(minutes=50))
    cron.fire(trigger.pk)

    fired = trigger.ticks.order_by("fire_at").values_list("fire_at", flat=True)
    assert fired
    assert since + HOUR + timedelta(minutes=50) <= min(fired) < database_now() - 8 * GRACE


def test_times_that_wait_for_their_turn_are_skipped_by_a_pause() -> None:
    trigger = scheduled()
    queued(trigger, 2)
    sync.pause(trigger.pk, until=database_now() + HOUR, actor=ACTOR)

    cron.start_due(trigger.pk)

    assert statuses(trigger) == ["SKIPPED", "SKIPPED"]
    assert {tick.reason for tick in trigger.ticks.all()} == {cron.PAUSED}


def test_a_resumed_schedule_does_not_catch_up_on_its_pause() -> None:
    trigger = scheduled(catchUp="all")
    sync.pause(trigger.pk, until=database_now() + HOUR, actor=ACTOR)

    resumed = sync.resume(trigger.pk, actor=ACTOR)

    assert resumed.paused_until is None
    assert resumed.next_at is not None
    assert database_now() < resumed.next_at < database_now() + timedelta(minutes=1, seconds=1)
    assert Activity.objects.filter(action="trigger.resume").exists()


def test_a_pause_past_the_end_of_a_schedule_leaves_no_next_time() -> None:
    ends = (database_now() + HOUR).isoformat()
    trigger = scheduled(endAt=ends)

    assert sync.pause(trigger.pk, until=database_now() + 2 * HOUR, actor=ACTOR).next_at is None


def test_a_disabled_schedule_forgets_its_pause() -> None:
    trigger = scheduled()
    sync.pause(trigger.pk, until=database_now() + HOUR, actor=ACTOR)

    sync.switch(trigger.pk, enabled=False, actor=ACTOR)
    again = sync.switch(trigger.pk, enabled=True, actor=ACTOR)

    assert again.paused_until is None
    assert again.next_at is not None
    assert again.next_at < database_now() + timedelta(minutes=2)


def test_the_api_pauses_and_resumes(author: APIClient) -> None:
    trigger = scheduled()
    until = database_now() + HOUR

    paused = patch(author, trigger, pausedUntil=until.isoformat())
    resumed = patch(author, trigger, pausedUntil=None)

    assert paused.status_code == resumed.status_code == 200
    assert paused.json()["pausedUntil"] == until.isoformat().replace("+00:00", "Z")
    assert resumed.json()["pausedUntil"] is None


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"enabled": True, "pausedUntil": None}, 422),
        ({"pausedUntil": "tomorrow"}, 422),
        ({"pausedUntil": "2001-01-01T00:00:00Z"}, 409),
        ({"pausedUntil": "9998-01-01T00:00:00Z"}, 409),
    ],
)
def test_a_bad_pause_is_rejected(author: APIClient, body: dict[str, Any], status: int) -> None:
    trigger = scheduled()

    assert patch(author, trigger, **body).status_code == status

    trigger.refresh_from_db()
    assert (trigger.enabled, trigger.paused_until) == (True, None)


def test_only_an_enabled_schedule_is_paused(author: APIClient) -> None:
    until = (database_now() + HOUR).isoformat()
    disabled = scheduled()
    sync.switch(disabled.pk, enabled=False, actor=ACTOR)
    hook = scheduled()
    Trigger.objects.filter(pk=hook.pk).update(type="WEBHOOK")

    answers = [patch(author, row, pausedUntil=until) for row in (disabled, hook)]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert [answer.json()["state"] for answer in answers] == ["DISABLED", "NO_SCHEDULE"]


def test_a_schedules_page_pauses_it_and_says_so(client: Client) -> None:
    trigger = scheduled()
    page = f"/admin/executions/trigger/{trigger.pk}"
    until = (database_now() + HOUR).replace(second=0, microsecond=0)
    asked = {"_form_submitted": "True", "until": f"{until:%Y-%m-%dT%H:%M}", "reason": "audit"}

    assert "Pause until (UTC)" in client.get(f"{page}/pause/").content.decode()
    client.post(f"{page}/pause/", asked)

    trigger.refresh_from_db()
    assert trigger.paused_until == until
    shown = client.get(f"{page}/change/").content.decode()
    assert f"yes, paused until {until:%Y-%m-%d %H:%M} UTC" in shown
    client.post(f"{page}/resume/", {"_form_submitted": "True"})
    trigger.refresh_from_db()
    assert trigger.paused_until is None


def test_a_pause_in_the_past_is_asked_for_again(client: Client) -> None:
    trigger = scheduled()
    asked = {"_form_submitted": "True", "until": "2001-01-01T00:00"}

    answer = client.post(f"/admin/executions/trigger/{trigger.pk}/pause/", asked)

    assert "Choose a time in the future." in answer.content.decode()
    trigger.refresh_from_db()
    assert trigger.paused_until is None


def test_a_schedule_runs_once_on_demand(client: Client) -> None:
    trigger = scheduled()

    client.post(f"/admin/executions/trigger/{trigger.pk}/run-now/", {"_form_submitted": "True"})

    execution = WorkflowExecution.objects.get()
    assert (execution.trigger, execution.trigger_type) == (trigger, "MANUAL")
    assert not trigger.ticks.exists()


def test_only_a_schedule_runs_on_demand() -> None:
    hook = scheduled()
    Trigger.objects.filter(pk=hook.pk).update(type="WEBHOOK")
    retired = scheduled()
    Trigger.objects.filter(pk=retired.pk).update(enabled=False, retired_at=database_now())

    for row in (hook, retired):
        with pytest.raises(WrongState):
            RUN_NOW.apply(row.pk, ACTOR, {})

    assert not WorkflowExecution.objects.exists()
