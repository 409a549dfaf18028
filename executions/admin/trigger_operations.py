"""What people do to triggers: switch them on and off; see and change a webhook's secret."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from executions.access import Action
from executions.access.actor import Actor
from executions.admin.operations import Operation
from executions.models import Trigger
from executions.states import Permission, TriggerType
from executions.triggers import webhook
from executions.triggers.sync import switch


def _switch(enabled: bool) -> Callable[[UUID, Actor, Mapping[str, Any]], Trigger]:
    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Trigger:
        return switch(pk, enabled=enabled, actor=actor, reason=data["reason"])

    return apply


def _refuse_on(row: Trigger) -> str:
    if row.retired_at is not None:
        return (
            "The published version has it no more. Add it to the definition's `triggers:` and "
            "publish."
        )
    return "Nothing to do: it is on." if row.enabled else ""


def _refuse_secret(row: Trigger) -> str:
    return "" if row.type == TriggerType.WEBHOOK else "Only webhooks have a secret."


SWITCH_ON = Operation(
    name="switch_on",
    title="Switch on…",
    icon="toggle_on",
    done="switched on",
    question="It starts executions again. Schedules do not catch up on the time they were off.",
    apply=_switch(True),
    needs=Action.AUTHOR,
    refuse=_refuse_on,
)
SWITCH_OFF = Operation(
    name="switch_off",
    title="Switch off…",
    icon="toggle_off",
    done="switched off",
    question="It starts nothing until it is switched on again; publishing leaves it off.",
    apply=_switch(False),
    needs=Action.AUTHOR,
    refuse=lambda row: "" if row.enabled else "Nothing to do: it is off.",
)
REVEAL = Operation(
    name="reveal_secret",
    title="Show secret…",
    icon="key",
    done="shown",
    question="Whoever has the secret can start this workflow. That you saw it is kept in the "
    "activity log.",
    apply=lambda pk, actor, data: webhook.reveal(pk, actor=actor, reason=data["reason"]),
    needs=Permission.CONFIGURE,
    refuse=_refuse_secret,
    bulk=False,
    shows="The secret",
)
ROTATE = Operation(
    name="rotate_secret",
    title="New secret…",
    icon="autorenew",
    done="given a new secret",
    question="The secret it has is refused at once; give the new one to whoever sends requests.",
    apply=lambda pk, actor, data: webhook.rotate(pk, actor=actor, reason=data["reason"]),
    needs=Permission.CONFIGURE,
    refuse=_refuse_secret,
    danger=True,
    bulk=False,
    shows="The new secret",
)

OPERATIONS = (SWITCH_ON, SWITCH_OFF, REVEAL, ROTATE)
