"""Ticks that wait are started one after another, as their trigger's `overlap` says.

A tick leaves QUEUED once, under its trigger's lock, together with the execution it starts.
"""

import logging
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from executions import lifecycle
from executions.access.actor import Actor
from executions.database.clock import ClockTimestamp, database_now
from executions.errors import QuotaExceeded, ValkyrError, WrongState
from executions.models import CronTick, Trigger, WorkflowExecution
from executions.states import UNFINISHED, TickStatus, TriggerType
from executions.triggers.cron_catchup import CAUGHT_UP
from executions.triggers.cron_rule import CANCEL_PREVIOUS, QUEUE, SKIP, rule
from executions.triggers.cron_ticks import locked
from executions.triggers.start import start_execution

log = logging.getLogger(__name__)
ACTOR = Actor.system("schedule")
# How many ticks one call serves, and how many earlier executions one tick may cancel.
BATCH = 100
LONGEST_WAIT = 60.0

SWITCHED_OFF = "The trigger was switched off, or its workflow archived, before this was started."
OVERLAP = "The execution of an earlier time was not finished; overlap is skip."
OVERTAKEN = "A later time was due as well and would have cancelled this one; overlap is {}."

_served_now: ContextVar[frozenset[UUID]] = ContextVar("triggers served now", default=frozenset())


def start_due(trigger_id: UUID, *, patient: bool = True) -> int:
    """Serve the trigger's ticks whose turn it is, oldest first; returns how many, at most 100.

    A tick over a quota stays QUEUED and is tried again. Without patience a trigger that somebody
    else serves is left to them. An execution that ends as it starts calls this again from within:
    the outer call goes on with what comes after it.
    """
    if trigger_id in _served_now.get():
        return 0
    token = _served_now.set(_served_now.get() | {trigger_id})
    served = 0
    try:
        while served < BATCH and _serve_next(trigger_id, patient):
            served += 1
    finally:
        _served_now.reset(token)
    return served


def _serve_next(trigger_id: UUID, patient: bool) -> bool:
    with transaction.atomic():
        trigger = locked(trigger_id, patient=patient)
        if trigger is None:
            return False
        queued = CronTick.objects.filter(trigger=trigger, status=TickStatus.QUEUED)
        if not trigger.enabled or trigger.workflow.archived_at is not None:
            queued.update(status=TickStatus.SKIPPED, reason=SWITCHED_OFF)
            return False
        overlap = rule(trigger.settings).overlap
        due = queued.filter(start_at__lte=ClockTimestamp()).order_by("fire_at")
        tick = due.first()
        if tick is None:
            return False
        earlier = _unfinished(trigger)
        if overlap == QUEUE and (earlier or queued.filter(fire_at__lt=tick.fire_at).exists()):
            return False
        if overlap == SKIP and earlier:
            tick.status, tick.reason = TickStatus.SKIPPED, OVERLAP
        elif overlap == CANCEL_PREVIOUS and due.filter(fire_at__gt=tick.fire_at).exists():
            tick.status, tick.reason = TickStatus.SKIPPED, OVERTAKEN.format(overlap)
        else:
            try:
                _start(trigger, tick, earlier if overlap == CANCEL_PREVIOUS else [])
            except QuotaExceeded as error:
                _put_off(due, error)
                return False
        tick.save(update_fields=["status", "reason", "execution"])
    return True


def _put_off(due: QuerySet[CronTick], error: QuotaExceeded) -> None:
    """Let the due ticks wait until there may be room again, and say why.

    They look once a minute, since a limit may be raised before its window ends.
    """
    seconds = min(max(error.retry_after, 1.0), LONGEST_WAIT)
    due.update(
        start_at=database_now() + timedelta(seconds=seconds),
        reason=f"Waits: {error.message}"[:200],
    )


def _unfinished(trigger: Trigger) -> list[UUID]:
    """What this trigger started and has not ended, without what people made of it since."""
    rows = WorkflowExecution.objects.filter(
        trigger=trigger, state__in=sorted(UNFINISHED), origin=None
    )
    return list(rows.order_by("created_at").values_list("pk", flat=True)[:BATCH])


def _start(trigger: Trigger, tick: CronTick, cancelled: list[UUID]) -> None:
    """Start the execution and end those in `cancelled`, or write into the tick why not.

    Raises QuotaExceeded.
    """
    due = tick.fire_at.isoformat()
    try:
        # A savepoint: a refusal half-way must not take the tick with it.
        with transaction.atomic():
            started = start_execution(
                trigger.workflow,
                {},
                actor=ACTOR,
                trigger_type=TriggerType.CRON,
                idempotency_key=f"cron:{trigger.pk}:{due}",
                trigger=trigger,
                reason=f"due at {due}",
            )
            # After the start, which locks the workspace: executions are locked after it.
            for execution_id in cancelled:
                with suppress(WrongState):  # it ended by itself meanwhile
                    lifecycle.cancel(execution_id, actor=ACTOR, reason=f"replaced, due at {due}")
    except QuotaExceeded:
        raise
    except ValkyrError as error:
        tick.status = TickStatus.REFUSED
        tick.reason = f"{error.code}: {error.message}"[:200]
        log.warning("cron trigger %s at %s started nothing: %s", trigger.pk, due, error)
        return
    tick.status, tick.execution = TickStatus.FIRED, started.execution
    tick.reason = CAUGHT_UP if tick.reason == CAUGHT_UP else ""
