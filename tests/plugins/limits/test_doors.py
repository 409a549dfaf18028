"""When a quota is used up, schedules and queues wait, and webhooks and events reject starts."""

import json
from datetime import timedelta
from threading import Event as Flag
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.conf import settings
from django.db.models import F
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import CronTick, QuotaUse, RefusedMessage, Tier, Trigger, WorkflowExecution
from executions.tasks import start_ticks
from executions.triggers import cron
from executions.triggers.cron import start_due
from executions.triggers.event import publish_event
from executions.triggers.queues.consumer import Consumer
from executions.triggers.queues.sources import RedisSource
from executions.triggers.webhook import secret_of
from tests.support.schedules import every_hour, let_pass, queued, scheduled, statuses
from tests.support.schedules import workspace as workspace_of_schedules
from tests.support.triggers import only_trigger, triggered
from tests.support.windows import wait_for_a_long_hour
from tests.support.workflows import ACTOR, limited_workspace
from valkyr_plugins.limits.models import Quota

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _no_window_ends_meanwhile(transactional_db: None) -> None:
    wait_for_a_long_hour(10)


def limit(trigger: Trigger, executions: int) -> Quota:
    """Set the number of executions per hour that the trigger's workspace may start."""
    return Quota.objects.create(workspace=trigger.workflow.workspace, max_per_hour=executions)


def next_hour() -> None:
    """Move the counters back by an hour, and make everything that waits due."""
    QuotaUse.objects.update(starts_at=F("starts_at") - timedelta(hours=1))
    CronTick.objects.filter(status="QUEUED").update(start_at=database_now())


def test_a_tick_over_a_quota_waits_says_why_and_fires_in_the_next_window() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="allow")
    limit(trigger, 1)
    queued(trigger, 3)

    start_due(trigger.pk)

    assert sorted(statuses(trigger)) == ["FIRED", "QUEUED", "QUEUED"]
    waiting = CronTick.objects.filter(status="QUEUED")
    for tick in waiting:
        assert "quota of this workspace allows 1" in tick.reason
        assert tick.start_at is not None
        assert timedelta() < tick.start_at - database_now() <= timedelta(seconds=60)
    next_hour()
    start_ticks()
    assert sorted(statuses(trigger)) == ["FIRED", "FIRED", "QUEUED"]


def test_a_waiting_tick_fires_within_a_minute_once_the_limit_is_raised() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="allow")
    quota = limit(trigger, 1)
    queued(trigger, 2)
    start_due(trigger.pk)

    Quota.objects.filter(pk=quota.pk).update(max_per_hour=2)
    CronTick.objects.filter(status="QUEUED").update(start_at=F("start_at") - timedelta(minutes=1))
    start_ticks()

    assert statuses(trigger) == ["FIRED", "FIRED"]


def test_a_schedule_over_its_quota_shows_why_it_started_nothing() -> None:
    trigger = scheduled(schedule=every_hour())
    limit(trigger, 0)
    let_pass(trigger, timedelta(hours=1))

    tick = cron.fire(trigger.pk)

    assert tick is not None
    assert (tick.status, tick.execution) == ("QUEUED", None)
    assert tick.reason.startswith("Waits: The quota of this workspace allows 0")


def test_a_tick_waits_as_well_while_too_many_executions_wait() -> None:
    trigger = scheduled(schedule=every_hour(), overlap="allow")
    tier = Tier.objects.create(name="narrow", max_concurrent=0, max_pending=1)
    place = workspace_of_schedules()
    place.tier = tier
    place.save()
    queued(trigger, 2)

    start_due(trigger.pk)
    assert sorted(statuses(trigger)) == ["FIRED", "QUEUED"]
    Tier.objects.filter(pk=tier.pk).update(max_pending=2)
    next_hour()
    start_ticks()

    assert statuses(trigger) == ["FIRED", "FIRED"]


def test_a_message_over_a_quota_stays_in_its_queue_and_starts_in_the_next_window() -> None:
    queue = f"orders-{uuid4().hex[:8]}"
    trigger = only_trigger(triggered({"type": "QUEUE", "queue": queue}))
    limit(trigger, 1)

    def consume() -> Consumer:
        source = RedisSource(settings.REDIS_URL, queue, trigger.pk, raw=True)
        consumer = Consumer(trigger.pk, source, stop=Flag(), once=True)
        consumer.run()
        source.close()
        return consumer

    with redis.Redis.from_url(settings.REDIS_URL) as store:
        store.rpush(queue, "1", "2")
        assert dict(consume().counts) == {"started": 1}
        assert store.lrange(queue, 0, -1) == [b"2"]
        next_hour()
        assert dict(consume().counts) == {"started": 1}
        assert store.llen(queue) == 0

    found = WorkflowExecution.objects.order_by("created_at")
    assert list(found.values_list("trigger_payload", flat=True)) == [1, 2]
    assert not RefusedMessage.objects.exists()


def test_a_webhook_over_a_quota_is_told_when_to_come_again() -> None:
    trigger = only_trigger(triggered({"type": "WEBHOOK", "auth": "bearer"}))
    limit(trigger, 1)

    def call() -> Any:
        secret = secret_of(trigger.pk, trigger.secret_version)
        return APIClient().post(
            f"/v1/hooks/{trigger.pk}",
            json.dumps({}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )

    first, second = call(), call()

    assert (first.status_code, second.status_code) == (202, 429)
    assert second.json()["code"] == "quota_exceeded"
    assert 0 < int(second["Retry-After"]) <= 3600


def test_an_event_over_a_quota_names_what_it_did_not_start() -> None:
    workspace = limited_workspace(5)
    triggers = [
        only_trigger(triggered({"type": "EVENT", "event": "ordered"}, workspace=workspace))
        for _ in range(2)
    ]
    limit(triggers[0], 1)

    published = publish_event(workspace, "ordered", {}, actor=ACTOR)

    assert [result.get("code") for result in published.event.started] == [None, "quota_exceeded"]
    assert QuotaUse.objects.get().used == 1
