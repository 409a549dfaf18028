"""Deliver events and signals once to each waiting run, and publish the events of steps.

The same workers deliver the events of all workspaces. Each call therefore evaluates filters only
briefly, stores its progress in the event's row, and sends another message. Other events can be
delivered in between.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef

from executions import payload_store
from executions.access.actor import Actor, record
from executions.database import connection, transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.definition.templating.render_guard import Allowance, TimeSpent
from executions.errors import InvalidPayload, WrongState
from executions.models import Event, WorkflowExecution, Workspace
from executions.payloads import from_row, trusted
from executions.sealing.payload_keys import with_key
from executions.states import TriggerType
from executions.triggers.event import EventReceipt, publish_event
from runners import statements
from runners.conf import pool
from runners.dispatch import messages
from runners.models import Waiter
from runners.modules.base import PublishedEvent, StepError
from runners.segment.state import SegmentState
from runners.segment.step_context import StepTimeout
from runners.segment.work import Work
from runners.states import WaitKind
from runners.waits import stored_payloads, wake_runs
from runners.waits.listeners import EventTarget, Listener, Pair, decide, listeners, meant

DELIVER = "runners.deliver_event"
# Maximum number of events that arrived while a run was being suspended; usually none or one.
MISSED = 100
# CPU time for the filters of one call, in seconds. A separate limit bounds each filter.
FILTER_SECONDS = 0.25


def stamped(looked_at: datetime | None) -> str:
    """Return a delivery message's stamp: the time of the last progress, or "" before the first."""
    return "" if looked_at is None else looked_at.isoformat()


class _Overtaken(Exception):
    """Another call has made progress with the event's delivery, and continues it."""


def announce(event_id: UUID) -> None:
    """Request the delivery of a new event after the commit, if any run waits for the event."""
    transaction.on_commit(partial(_announced, event_id), robust=True)


def _announced(event_id: UUID) -> None:
    """Request the delivery of an event that is now visible to other transactions.

    Runs that begin to wait later do not receive the event, so without listeners the delivery is
    complete. A run that is being suspended is not visible yet; it checks for the event after its
    own commit.
    """
    event = Event.objects.only("workspace_id", "name").get(pk=event_id)
    listening = Waiter.objects.filter(
        kind=WaitKind.EVENT, key=event.name, workspace_id=event.workspace_id
    )
    if not listening.exists():
        _delivered(event_id)
        return
    messages.tell(DELIVER, event_id)


def deliver(event_id: UUID, stamp: str | None = None) -> int:
    """Wake the runs that an event matches, batch by batch; return how many this call woke.

    If the filters take longer than FILTER_SECONDS, another message continues after the last run
    that was decided. A message with an outdated stamp is a duplicate and has no effect.
    """
    event = with_key(Event.objects.filter(pk=event_id, delivered_at=None)).first()
    if event is None or (stamp is not None and stamp != stamped(event.looked_at)):
        return 0
    count, payload = 0, _payload(event)
    allowance = Allowance(FILTER_SECONDS, workers=True)
    try:
        for found in listeners(_call(event), event.delivered_to):
            decided = decide(found, payload, allowance)
            with transaction.atomic():
                if decided.last is not None:
                    _keep(event, decided.last if decided.over else found[-1].run_id)
                key = event.sealing_key
                waking = _waking(event)
                count += wake_runs.wake_all(decided.pairs, [WaitKind.EVENT], waking, key)
            if decided.over:
                messages.tell_after_commit(DELIVER, event_id, stamped(event.looked_at))
                return count
        _delivered(event_id, event.looked_at)
    except _Overtaken:
        return count
    return count


def catch_up(run_id: UUID) -> None:
    """Wake a run for a matching event that arrived before the run's suspension was committed.

    Such an event may have been delivered before the run was visible. `deliver_missed` handles
    crashes, and events beyond the first MISSED.
    """
    since = Event.objects.filter(
        workspace_id=OuterRef("workspace_id"),
        name=OuterRef("key"),
        created_at__gt=OuterRef("unheard_since"),
    )
    waiters = Waiter.objects.filter(pk=run_id, kind=WaitKind.EVENT)
    if waiters.exclude(Exists(since)).update(unheard_since=None):
        return
    waiter = waiters.first()
    if waiter is None:
        return
    allowance = Allowance(FILTER_SECONDS, workers=True)
    missed = Event.objects.filter(
        workspace_id=waiter.workspace_id, name=waiter.key, created_at__gt=waiter.unheard_since
    )
    events = with_key(missed)
    found = list(events.order_by("created_at")[:MISSED])
    for event in found:
        mine = [
            listener
            for batch in listeners(_call(event, waiter.execution_id))
            for listener in batch
            if listener.run_id == run_id
        ]
        try:
            pairs = meant(mine, _payload(event), allowance)
        except TimeSpent:
            _deliver_anew([event.pk])
            continue
        with transaction.atomic():
            waking = _waking(event)
            if wake_runs.wake_all(pairs, [WaitKind.EVENT], waking, event.sealing_key):
                return
    waiters.update(unheard_since=found[-1].created_at if len(found) == MISSED else None)


def deliver_missed(age: float, batch: int) -> int:
    """Request delivery to runs that were suspended over `age` seconds ago and were not checked.

    Returns how many such runs were found, at most `batch`. The delivery evaluates the filters.
    """
    rows = statements.fetch("runs_with_missed_events", {"age": age, "batch": batch, "most": MISSED})
    missed: dict[tuple[UUID, datetime], list[tuple[UUID, datetime]]] = defaultdict(list)
    for run_id, since, event_id, created_at in rows:
        missed[run_id, since] += [] if event_id is None else [(event_id, created_at)]
    if not missed:
        return 0
    _deliver_anew(sorted({event_id for found in missed.values() for event_id, _ in found}))
    # Marked only now: if the process dies earlier, the next sweep delivers the events again.
    upto = [found[-1][1] if len(found) == MISSED else None for found in missed.values()]
    runs, since = zip(*missed, strict=True)
    statements.fetch(
        "mark_missed_events_sent", {"runs": list(runs), "since": list(since), "upto": upto}
    )
    return len(missed)


def _keep(event: Event, to: UUID) -> None:
    """Store the position of the last decided run. Raises _Overtaken if another call continues.

    Later runs without a filter are woken in the same transaction, so the next call does not find
    them again.
    """
    now = database_now()
    mine = Event.objects.filter(pk=event.pk, delivered_at=None, looked_at=event.looked_at)
    if not mine.update(delivered_to=to, looked_at=now):
        raise _Overtaken
    event.delivered_to, event.looked_at = to, now


def _deliver_anew(event_ids: Sequence[UUID]) -> None:
    """Ask a worker to recheck all runs that wait for these events."""
    now = database_now()
    Event.objects.filter(pk__in=event_ids).update(
        delivered_at=None, delivered_to=None, looked_at=now
    )
    for event_id in event_ids:
        messages.tell_after_commit(DELIVER, event_id, stamped(now))


def _call(event: Event, execution_id: UUID | None = None) -> EventTarget:
    return EventTarget(
        event.workspace_id, event.name, event.payload, event.created_at, execution_id
    )


def _waking(event: Event) -> dict[str, Any]:
    return {
        "by": "event",
        "event": event.name,
        "eventId": event.event_id,
        "payload": _payload(event),
    }


def _payload(event: Event) -> Any:
    """Return an event's payload; the references in it are marked so that `dump` accepts them.

    An event of a step may refer to stored content.
    """
    return trusted(event.payload) if payload_store.enabled() else from_row(event.payload)


def _delivered(event_id: UUID, looked_at: datetime | None = None) -> None:
    """Record that all runs were checked, unless another call made progress since `looked_at`."""
    Event.objects.filter(pk=event_id, delivered_at=None, looked_at=looked_at).update(
        delivered_at=ClockTimestamp()
    )


# Publish the events of steps to their workspace: each event once, and no endless chains.
#
# An event may start a workflow that publishes an event. The event's ID contains the length of that
# chain, and an event beyond `MAX_CHAIN` is rejected. The module's thread has no database
# connection, so one is opened for this and returned.


MAX_CHAIN = 10
# Maximum number of parents and failed executions that are followed to the first start.
MAX_CLIMB = 50
OWN_ID = re.compile(r"step:(\d+):[0-9a-f]{64}:\d+")
STARTED_BY = re.compile(r"event:([0-9a-f-]{36}):.*")


def announce_from_step(
    state: SegmentState, work: Work, name: str, payload: Any, number: int
) -> PublishedEvent:
    """Publish the step's event `number`, counted from 1. Raises StepError for an invalid event."""
    try:
        return _told(_publish(state, work, name, payload, number))
    except InvalidPayload as error:
        said = "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        raise StepError(f"the event cannot be stored: {said or error.message}") from error
    except StepTimeout:
        # Interrupted at an unknown point: the state of the connection is unknown.
        connection.close()
        raise
    finally:
        if pool() == "threads":
            connection.close()  # return the connection to the pool


def _publish(state: SegmentState, work: Work, name: str, payload: Any, number: int) -> EventReceipt:
    assert work.prepared is not None
    chain = chain_of(state.context.execution_id) + 1
    if chain > MAX_CHAIN:
        raise StepError(
            f"{name!r} would be event {chain} of a chain in which each event starts the workflow "
            f"that publishes the next; the maximum is {MAX_CHAIN}. Add a filter to a trigger to "
            "end the chain."
        )
    return publish_event(
        Workspace.objects.get(pk=state.context.version.workspace_id),
        name,
        payload,
        actor=Actor.system(f"step {work.path[:140]} of {state.context.execution_id}"),
        event_id=f"step:{chain}:{work.prepared.key}:{number}",
    )


def chain_of(execution_id: UUID) -> int:
    """Return how many events, each published by a step, led in sequence to this execution."""
    found = _first(execution_id)
    started = STARTED_BY.fullmatch(found["idempotency_key"] or "")
    if found["trigger_type"] != TriggerType.EVENT or started is None:
        return 0
    event_id = Event.objects.filter(pk=started[1]).values_list("event_id", flat=True).first()
    own = OWN_ID.fullmatch(event_id or "")
    return int(own[1]) if own else 0


def _first(execution_id: UUID) -> dict[str, Any]:
    """Follow parents and failed executions upwards; return columns of the first execution."""
    for _ in range(MAX_CLIMB):
        found: Any = WorkflowExecution.objects.values(
            "parent_id", "failure_of_id", "trigger_type", "idempotency_key"
        ).get(pk=execution_id)
        above = found["parent_id"] or found["failure_of_id"]
        if above is None:
            return dict(found)
        execution_id = above
    raise StepError(
        f"this execution has more than {MAX_CLIMB} parents or failures before it, probably "
        "workflows that start each other endlessly, so it cannot publish an event"
    )


def _told(published: EventReceipt) -> PublishedEvent:
    results = published.event.started
    return PublishedEvent(
        event_id=published.event.event_id,
        created=published.created,
        executions=tuple(r["executionId"] for r in results if "executionId" in r),
        refused=tuple(r for r in results if "code" in r),
    )


# Send a signal, an event for one execution that wakes the steps that wait for its name.


# Maximum number of other events that an error lists as awaited.
NAMED = 20


class NobodyWaits(WrongState):
    """No step of the execution waits for the signal, or no filter accepts the signal's payload."""

    code = "nobody_waits"


class FiltersTooCostly(WrongState):
    """The filters of the waiting steps need more time than one request may use."""

    code = "filters_too_costly"


@dataclass(frozen=True, slots=True)
class Woken:
    """A run that the signal woke."""

    run_id: UUID
    step_path: str


def signal(execution: WorkflowExecution, name: str, payload: Any, *, actor: Actor) -> list[Woken]:
    """Wake the execution's steps that wait for this name and whose filter, if any, matches.

    Returns the runs that continue. Raises NobodyWaits if no run continues, FiltersTooCostly, and
    PayloadStoreUnavailable if a large payload cannot be stored.
    """
    call = EventTarget(execution.workspace_id, name, payload, execution_id=execution.pk)
    allowance = Allowance(FILTER_SECONDS)
    try:
        # Evaluate the filters before locks are taken.
        found = [(batch, meant(batch, payload, allowance)) for batch in listeners(call)]
    except TimeSpent:
        raise FiltersTooCostly(
            f"The filters of the steps that wait for {name!r} take more than {FILTER_SECONDS:g} s, "
            "so no step was woken. Publish an event of this name instead: a worker evaluates the "
            "filters then.",
            execution.state,
        ) from None
    woken: list[Woken] = []
    if any(pairs for _, pairs in found):
        payload = stored_payloads.put(execution.workspace_id, execution.pk, payload)
    with transaction.atomic():
        for batch, pairs in found:
            woken += _wake(batch, pairs, name, payload)
        if woken:
            record(
                actor,
                "execution.signal",
                workspace_id=execution.workspace_id,
                object_type="WorkflowExecution",
                object_id=execution.pk,
                details={"name": name, "woken": len(woken)},
            )
    if not woken:
        passed = sum(len(batch) for batch, _ in found)
        raise NobodyWaits(_sentence(execution.pk, name, passed), execution.state)
    return woken


def _wake(batch: list[Listener], pairs: list[Pair], name: str, payload: Any) -> list[Woken]:
    """Wake the runs in `pairs`; return the runs of the batch that were woken."""
    waking = {"by": "event", "event": name, "eventId": None, "payload": payload}
    woken = wake_runs.wake_each(pairs, [WaitKind.EVENT], waking)
    return [Woken(one.run_id, one.path) for one in batch if one.run_id in woken]


def _sentence(execution_id: UUID, name: str, passed: int) -> str:
    if passed:
        steps = "1 step waits" if passed == 1 else f"{passed} steps wait"
        return f"{steps} for {name!r}, but no filter lets this payload pass."
    waiters = Waiter.objects.filter(execution_id=execution_id).order_by("created_at")
    known = Counter(
        f"{kind} {key!r}" if kind == WaitKind.EVENT else kind
        for kind, key in waiters.values_list("kind", "key")[:1_000]
    )
    others = ", ".join(f"{what} ({n} steps)" if n > 1 else what for what, n in known.items())
    if len(known) > NAMED:
        others = ", ".join(list(known)[:NAMED]) + " and more"
    return f"No step waits for {name!r}; the execution waits for {others or 'nothing outside'}."
