"""Enable, disable, pause, resume or run a trigger; show or replace a webhook's secret."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.utils import timezone

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.errors import WrongState
from executions.models import Trigger, WorkflowExecution
from executions.states import Permission, TriggerType
from executions.triggers import webhook
from executions.triggers.start import start_execution
from executions.triggers.sync import pause, resume, switch


def _switch(enabled: bool) -> Callable[[UUID, Actor, Mapping[str, Any]], Trigger]:
    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Trigger:
        return switch(pk, enabled=enabled, actor=actor, reason=data.get("reason", ""))

    return apply


def _reveal(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> str:
    return webhook.reveal(pk, actor=actor, reason=data.get("reason", ""))


def _rotate(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> str:
    said = data.get("overlap")
    overlap = webhook.OVERLAP_SECONDS if said is None else said
    return webhook.rotate(pk, actor=actor, reason=data.get("reason", ""), overlap=overlap)


def _pause(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Trigger:
    return pause(pk, until=data["until"], actor=actor, reason=data.get("reason", ""))


def _resume(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Trigger:
    return resume(pk, actor=actor, reason=data.get("reason", ""))


def _run_now(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    trigger = Trigger.objects.select_related("workflow").get(pk=pk)
    if refused := _refuse_run(trigger):
        raise WrongState(refused, "RETIRED" if trigger.retired_at else "NO_SCHEDULE")
    return start_execution(
        trigger.workflow, {}, actor=actor, trigger=trigger, reason=data.get("reason", "")
    ).execution


def _refuse_on(row: Trigger) -> str:
    if row.retired_at is not None:
        return (
            "The published version no longer has this trigger. Add it to the definition's "
            "`triggers:` and publish."
        )
    return "This trigger is already enabled." if row.enabled else ""


def _refuse_off(row: Trigger) -> str:
    return "" if row.enabled else "This trigger is already disabled."


def _refuse_pause(row: Trigger) -> str:
    if row.type != TriggerType.CRON:
        return "Only schedules can be paused."
    return "" if row.enabled else "This schedule is disabled."


def _refuse_resume(row: Trigger) -> str:
    if row.paused_until is None or row.paused_until <= timezone.now():
        return "This trigger is not paused."
    return _refuse_pause(row)


def _refuse_run(row: Trigger) -> str:
    if row.type != TriggerType.CRON:
        return "Only schedules can be run from here."
    return "" if row.retired_at is None else "The published version no longer has this trigger."


def _refuse_secret(row: Trigger) -> str:
    return "" if row.type == TriggerType.WEBHOOK else "Only webhooks have a secret."


SWITCH_ON = Operation(name="switch_on", apply=_switch(True), needs=Action.AUTHOR, refuse=_refuse_on)
SWITCH_OFF = Operation(
    name="switch_off", apply=_switch(False), needs=Action.AUTHOR, refuse=_refuse_off
)
PAUSE = Operation(name="pause", apply=_pause, needs=Action.AUTHOR, refuse=_refuse_pause)
RESUME = Operation(name="resume", apply=_resume, needs=Action.AUTHOR, refuse=_refuse_resume)
RUN_NOW = Operation(name="run_now", apply=_run_now, needs=Action.TRIGGER, refuse=_refuse_run)
REVEAL_SECRET = Operation(
    name="reveal_secret", apply=_reveal, needs=Permission.CONFIGURE, refuse=_refuse_secret
)
ROTATE_SECRET = Operation(
    name="rotate_secret", apply=_rotate, needs=Permission.CONFIGURE, refuse=_refuse_secret
)
