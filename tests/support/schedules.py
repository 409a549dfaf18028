"""Published schedules, simulated time for them, and the end of their executions."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from executions import lifecycle
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.models import CronTick, Tier, Trigger, Workflow, WorkflowExecution, Workspace
from executions.publishing import versioning
from executions.sealing.sealer import PayloadSealer
from executions.states import ExecutionState

ACTOR = Actor.system("test")
EVERY_MINUTE = {"type": "CRON", "schedule": "* * * * *"}


def workspace() -> Workspace:
    tier = Tier.objects.get_or_create(name="unlimited")[0]
    return Workspace.objects.get_or_create(slug="default", defaults={"name": "D", "tier": tier})[0]


def definition(*triggers: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "schema": "valkyr/1",
        "name": "nightly",
        "tasks": [{"id": "a", "use": "flow.noop"}],
        "triggers": list(triggers),
        **more,
    }


def publish(*triggers: Mapping[str, Any], **more: Any) -> Workflow:
    workflow = versioning.create_workflow(
        workspace(),
        name="nightly",
        slug=f"nightly-{uuid7()}",
        definition=definition(*triggers, **more),
        actor=ACTOR,
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    return workflow


def scheduled(*, tasks: Sequence[Any] | None = None, **settings: Any) -> Trigger:
    """Publish a new workflow and return its trigger, due every minute by default."""
    workflow = publish(EVERY_MINUTE | settings, **({} if tasks is None else {"tasks": tasks}))
    return Trigger.objects.get(workflow=workflow)


def every_hour() -> str:
    """Return an hourly schedule that is due half an hour from now, so that no test meets one of its
    times.
    """
    return f"{(database_now().minute + 30) % 60} * * * *"


def let_pass(trigger: Trigger, time: timedelta) -> datetime:
    """Change the schedule as if it had not been read for `time`; return the time since when."""
    since = database_now() - time
    Trigger.objects.filter(pk=trigger.pk).update(next_at=since)
    return since


def queued(trigger: Trigger, number: int) -> list[CronTick]:
    """Create ticks that wait for their start, an hour apart, at no time of a schedule."""
    now = database_now().replace(second=30, microsecond=0)
    return CronTick.objects.bulk_create(
        CronTick(
            trigger=trigger,
            fire_at=now - timedelta(hours=number - hour),
            status="QUEUED",
            start_at=now - timedelta(hours=number - hour),
            reason="Due; waits for earlier fire times.",
        )
        for hour in range(number)
    )


def end(execution: WorkflowExecution, state: ExecutionState = ExecutionState.SUCCESS) -> None:
    """End the execution as when its last step is recorded."""
    with transaction.atomic():
        WorkflowExecution.objects.select_for_update(no_key=True).get(pk=execution.pk)
        lifecycle.finish(
            execution.pk, state, sealer=PayloadSealer(execution.pk, execution.workspace_id)
        )


def statuses(trigger: Trigger) -> list[str]:
    """Return the status of each tick, oldest first."""
    ticks = CronTick.objects.filter(trigger=trigger).order_by("fire_at")
    return list(ticks.values_list("status", flat=True))
