"""Events reach the runs that wait for them, each once; delivering twice wakes nobody twice."""

from typing import Any
from uuid import UUID

from django.db import transaction

from executions.database.clock import ClockTimestamp
from executions.models import Event
from runners.dispatch import messages
from runners.models import Waiter
from runners.states import WaitKind
from runners.waits import wake_runs
from runners.waits.listeners import EventTarget, listeners, meant

DELIVER = "runners.deliver_event"
# Events that came while a run fell asleep, at most; there is seldom one.
MISSED = 100


def announce(event_id: UUID) -> None:
    """A new event, in its transaction: let it be delivered after the commit, if anybody listens.

    Whoever begins to wait later does not hear it, so an event nobody listens for is done with.
    """
    event = Event.objects.only("workspace_id", "name").get(pk=event_id)
    listening = Waiter.objects.filter(
        kind=WaitKind.EVENT, key=event.name, workspace_id=event.workspace_id
    )
    if not listening.exists():
        _delivered(event_id)
        return
    messages.tell_after_commit(DELIVER, event_id)


def deliver(event_id: UUID) -> int:
    """Wake every run an event is meant for, batch by batch; returns how many this call woke."""
    event = Event.objects.filter(pk=event_id, delivered_at=None).first()
    if event is None:
        return 0
    count = 0
    for found in listeners(_call(event)):
        pairs = meant(found, event.payload)
        with transaction.atomic():
            count += wake_runs.wake_all(pairs, [WaitKind.EVENT], _waking(event))
    _delivered(event_id)
    return count


def catch_up(run_id: UUID) -> None:
    """A run has just fallen asleep: deliver what came between its look at the clock and its commit.

    Such an event may have been delivered before anybody could see that the run waits for it.
    """
    waiter = Waiter.objects.filter(pk=run_id, kind=WaitKind.EVENT).first()
    if waiter is None:
        return
    events = Event.objects.filter(
        workspace_id=waiter.workspace_id, name=waiter.key, created_at__gt=waiter.created_at
    )
    for event in events.order_by("created_at")[:MISSED]:
        mine = [
            listener
            for found in listeners(_call(event, waiter.execution_id))
            for listener in found
            if listener.run_id == run_id
        ]
        pairs = meant(mine, event.payload)
        with transaction.atomic():
            if wake_runs.wake_all(pairs, [WaitKind.EVENT], _waking(event)):
                return


def _call(event: Event, execution_id: UUID | None = None) -> EventTarget:
    return EventTarget(
        event.workspace_id, event.name, event.payload, event.created_at, execution_id
    )


def _waking(event: Event) -> dict[str, Any]:
    return {
        "by": "event",
        "event": event.name,
        "eventId": event.event_id,
        "payload": event.payload,
    }


def _delivered(event_id: UUID) -> None:
    Event.objects.filter(pk=event_id, delivered_at=None).update(delivered_at=ClockTimestamp())
