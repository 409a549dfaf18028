"""What a trigger's page says beside its settings: where it is reached and what came of it."""

from typing import Any

from executions.admin import links, marks
from executions.models import Trigger
from executions.states import TriggerType

HOW_SIGNED = {
    "hmac": "X-Valkyr-Signature: t=<unix seconds>,v1=<HMAC-SHA256 of <t>.<body>, in hex>",
    "bearer": "Authorization: Bearer <secret>",
}


def facts_of(trigger: Trigger) -> list[tuple[str, Any]]:
    """Labels and values for a webhook, an event's or a queue's trigger; none for a schedule."""
    settings = trigger.settings
    if trigger.type == TriggerType.WEBHOOK:
        return [
            ("Address", marks.copyable(f"/v1/hooks/{trigger.pk}")),
            ("Callers send", HOW_SIGNED.get(settings.get("auth", ""))),
            ("Secrets so far", str(trigger.secret_version)),
        ]
    if trigger.type == TriggerType.EVENT:
        events = links.listing("executions_event", q=settings.get("event", ""))
        return [("Events", links.link(events, "Events of this name"))]
    if trigger.type == TriggerType.QUEUE:
        refused = links.listing("executions_refusedmessage", q=str(trigger.pk))
        return [
            ("Read by", marks.copyable(f"manage.py consume {trigger.pk}")),
            ("Refused", links.link(refused, "Refused messages")),
        ]
    return []


def standing(trigger: Trigger) -> str:
    """Whether it starts anything, and if not, why."""
    if trigger.enabled:
        return "yes"
    return "no: not in the published version" if trigger.retired_at else "no: switched off"
