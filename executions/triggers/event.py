"""EVENT triggers: an event is published once, and starts each workflow whose trigger matches it.

One transaction writes the event and its executions; a rejected start does not affect the others.
Waiting runs are woken after the commit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import QuerySet

from executions import payloads
from executions.access.actor import Actor, record
from executions.admission import concurrency
from executions.database import transaction
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.json_schema.budget import one_request
from executions.definition.templates import TemplateError
from executions.definition.templating import render_guard
from executions.errors import InvalidPayload, PayloadError, ValkyrError
from executions.events import event_received
from executions.models import Event, Trigger, Workspace
from executions.payload_store import writing
from executions.states import TriggerType
from executions.triggers import event_locks
from executions.triggers.filters import holds
from executions.triggers.start import start_execution
from executions.triggers.stored_input import (
    MAX_PAYLOAD_BYTES,
    StoredInput,
    row_of,
    stored,
    value_of,
)

MAX_TRIGGERS = 500
# CPU seconds for all filters of an event, for every publisher. Each filter also has a budget
# (`executions.definition.templating.budget`).
FILTER_SECONDS = 0.25

Result = dict[str, Any]  # a trigger's result for an event, as callers see it


@dataclass(frozen=True, slots=True)
class EventReceipt:
    """An event, and whether this call or an earlier call with the same ID stored it."""

    event: Event
    created: bool


def publish_event(
    workspace: Workspace,
    name: str,
    payload: Any,
    *,
    actor: Actor,
    event_id: str | None = None,
) -> EventReceipt:
    """Store an event and start the workflows of its triggers whose filter matches.

    Only the 500 oldest triggers are considered. `payload` is a value, or its StoredInput. For a
    known ID, returns the earlier event and starts nothing. `event.started` lists the starts and the
    errors by trigger. Raises InvalidPayload if the payload cannot be stored, and the errors of
    `stored_input.stored`.
    """
    text = _check(value_of(payload))
    given = stored(workspace.pk, payload)
    try:
        with transaction.atomic():
            event = _insert(workspace, name, row_of(given), event_id)
            event.started = _start_all(event, given, actor)
            event.save(update_fields=["started"])
            if isinstance(given, StoredInput) or payloads.STORED in text:
                writing.keep_each([(event.pk, event.payload)], all_there=True)
            _audit(event, actor)
            event_received.send(Event, event_id=event.pk)
    except IntegrityError:
        known = Event.objects.filter(workspace=workspace, event_id=event_id).first()
        if known is None:
            raise
        return EventReceipt(known, created=False)
    return EventReceipt(event, created=True)


def _insert(workspace: Workspace, name: str, payload: Any, event_id: str | None) -> Event:
    pk = uuid7()
    event = Event(
        id=pk,
        workspace=workspace,
        event_id=str(pk) if event_id is None else event_id,
        name=name,
        payload=payload,
        created_at=database_now(),
    )
    event.save(force_insert=True)
    return event


def _listening(workspace_id: UUID, name: str) -> QuerySet[Trigger]:
    return Trigger.objects.filter(
        type=TriggerType.EVENT,
        enabled=True,
        settings__event=name,
        workflow__workspace_id=workspace_id,
    )


def _start_all(event: Event, given: Any, actor: Actor) -> list[Result]:
    """Start the workflows of matching triggers with `given`, and return the triggers' results.

    `given` is the payload or its StoredInput.
    """
    listening = _listening(event.workspace_id, event.name)
    rows = listening.select_related("workflow").defer("workflow__definition").order_by("id")
    triggers = list(rows[: MAX_TRIGGERS + 1])
    payload = value_of(given)
    judged = _judged(triggers[:MAX_TRIGGERS], payload)
    event_locks.take([each for each, no in judged if no is None], event, payload, actor)
    # If the shared budget is used up, the remaining starts are rejected, which `event.started`
    # shows.
    with one_request(len(judged)), concurrency.one_budget():
        results = [refusal or _started(each, event, given, actor) for each, refusal in judged]
    if len(triggers) > MAX_TRIGGERS:
        results.append(_too_many(event, listening.count()))
    return results


def _holds(text: str | None, payload: Any, allowance: render_guard.Allowance) -> bool:
    """Return whether a filter matches the payload; None matches every payload.

    Raises TemplateError, also if no time is left for this filter.
    """
    if text is None:
        return True
    try:
        with allowance.rendering():
            return holds(text, payload)
    except render_guard.TimeSpent:
        raise TemplateError(
            "the filters of this event's other triggers took more than "
            f"{allowance.seconds:g} s, so this one was not evaluated; make the filters simpler, or "
            "use several event names"
        ) from None


def _judged(triggers: Sequence[Trigger], payload: Any) -> list[tuple[Trigger, Result | None]]:
    """Return triggers that match the event (with None) or whose filter failed (with the error)."""
    allowance = render_guard.Allowance(FILTER_SECONDS, workers=True)
    judged: list[tuple[Trigger, Result | None]] = []
    for trigger in triggers:
        try:
            if _holds(trigger.settings["filter"], payload, allowance):
                judged.append((trigger, None))
        except TemplateError as error:
            why = {"code": "filter_failed", "message": f"The filter failed: {error}."}
            judged.append((trigger, _named(trigger) | why))
    return judged


def _started(trigger: Trigger, event: Event, given: Any, actor: Actor) -> Result:
    """Start the trigger's workflow; return a result with the execution's ID or the error."""
    try:
        # A savepoint, so that an error during the start does not undo anything else.
        with transaction.atomic():
            started = start_execution(
                trigger.workflow,
                given,
                actor=actor,
                trigger_type=TriggerType.EVENT,
                trigger=trigger,
                idempotency_key=f"event:{event.pk}:{trigger.pk}",
                reason=f"event {event.name} {event.event_id}",
            )
    except ValkyrError as error:
        return _named(trigger) | {"code": error.code, "message": _sentence(error)}
    return _named(trigger) | {"executionId": str(started.execution.pk)}


def _named(trigger: Trigger) -> Result:
    return {"triggerId": str(trigger.pk), "workflowId": str(trigger.workflow_id)}


def _sentence(error: ValkyrError) -> str:
    found: Sequence[Any] = getattr(error, "problems", ())
    where = "; ".join(f"{problem.path}: {problem.message}" for problem in found[:5])
    return f"{error.message} {where}"[:1000] if where else error.message[:1000]


def _too_many(event: Event, count: int) -> Result:
    return {
        "triggerId": None,
        "workflowId": None,
        "code": "too_many_triggers",
        "message": f"{count:,} triggers listen for {event.name!r}; only the oldest "
        f"{MAX_TRIGGERS} were started. Use several names.",
    }


def _check(payload: Any) -> str:
    """Return the payload's JSON. Raises InvalidPayload."""
    try:
        return payloads.dump(payload, "payload", MAX_PAYLOAD_BYTES)
    except PayloadError as error:
        raise InvalidPayload(
            error.message, [DefinitionProblem("payload", error.code, error.message)]
        ) from error


def _audit(event: Event, actor: Actor) -> None:
    record(
        actor,
        "event.publish",
        workspace_id=event.workspace_id,
        object_type="Event",
        object_id=event.pk,
        details={
            "name": event.name,
            "eventId": event.event_id,
            "started": sum("executionId" in result for result in event.started),
            "refused": sum("code" in result for result in event.started),
        },
    )
