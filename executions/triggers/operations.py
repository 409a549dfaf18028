"""Enable or disable a trigger; show or replace a webhook's secret."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.models import Trigger
from executions.states import Permission, TriggerType
from executions.triggers import webhook
from executions.triggers.sync import switch


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


def _refuse_on(row: Trigger) -> str:
    if row.retired_at is not None:
        return (
            "The published version no longer has this trigger. Add it to the definition's "
            "`triggers:` and publish."
        )
    return "This trigger is already enabled." if row.enabled else ""


def _refuse_off(row: Trigger) -> str:
    return "" if row.enabled else "This trigger is already disabled."


def _refuse_secret(row: Trigger) -> str:
    return "" if row.type == TriggerType.WEBHOOK else "Only webhooks have a secret."


SWITCH_ON = Operation(name="switch_on", apply=_switch(True), needs=Action.AUTHOR, refuse=_refuse_on)
SWITCH_OFF = Operation(
    name="switch_off", apply=_switch(False), needs=Action.AUTHOR, refuse=_refuse_off
)
REVEAL_SECRET = Operation(
    name="reveal_secret", apply=_reveal, needs=Permission.CONFIGURE, refuse=_refuse_secret
)
ROTATE_SECRET = Operation(
    name="rotate_secret", apply=_rotate, needs=Permission.CONFIGURE, refuse=_refuse_secret
)
