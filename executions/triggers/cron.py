"""CRON triggers: beat sends tasks on the schedule, and rows decide whether an execution starts.

Beat's messages can be early, late, duplicated or missing (beat leaves out times on days with a
clock change). `tend` checks every few seconds for a time without a message, and starts delayed
ticks. Each fire time starts at most one execution, because its row is unique.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from datetime import datetime, timedelta
from itertools import takewhile
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.dispatch import receiver

from executions import lifecycle
from executions.access.actor import Actor
from executions.database import statements, transaction
from executions.database.clock import ClockTimestamp, database_now
from executions.errors import QuotaExceeded, ValkyrError, WrongState
from executions.events import execution_ended
from executions.models import CronTick, Trigger, WorkflowExecution
from executions.states import TickStatus, TriggerType
from executions.triggers import beat_admin
from executions.triggers.beat_entries import settings_of
from executions.triggers.cron_schedule import (
    CANCEL_PREVIOUS,
    CAUGHT_UP,
    MICROSECOND,
    QUEUE,
    SKIP,
    CronRule,
    Decision,
    decide,
    delay,
    following,
    rule,
)
from executions.triggers.start import start_execution

# Start queued ticks one after another, according to their trigger's `overlap`.
#
# A tick leaves QUEUED only once, under its trigger's lock, in the transaction that starts its
# execution.

ACTOR = Actor.system("schedule")
# Maximum number of ticks that one call handles, and of earlier executions that one tick cancels.
TICKS_AT_ONCE = 100
LONGEST_WAIT = 60.0

PAUSED = "The schedule was paused before this was started."
SWITCHED_OFF = "The trigger was disabled, or its workflow archived, before this was started."
OVERLAP = "The execution of an earlier fire time had not ended; overlap is skip."
OVERTAKEN = "A later fire time was also due and would have cancelled this execution; overlap is {}."

_served_now: ContextVar[frozenset[UUID]] = ContextVar("triggers served now", default=frozenset())


def start_due(trigger_id: UUID, *, patient: bool = True) -> int:
    """Start or skip the trigger's due ticks, oldest first; return their number, at most 100.

    A tick that exceeds a quota stays QUEUED. All queued ticks of a disabled or paused trigger, or
    of an archived workflow, are skipped and not counted. Unless `patient` is set, a locked trigger
    is left out. An inner call, caused by an execution that ends as it starts, does nothing.
    """
    if trigger_id in _served_now.get():
        return 0
    token = _served_now.set(_served_now.get() | {trigger_id})
    served = 0
    try:
        while served < TICKS_AT_ONCE and _serve_next(trigger_id, patient):
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
        stopped = _stopped(trigger)
        if stopped:
            queued.update(status=TickStatus.SKIPPED, reason=stopped)
            return False
        overlap = rule(settings_of(trigger)).overlap
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
                _start_tick(trigger, tick, earlier if overlap == CANCEL_PREVIOUS else [])
            except QuotaExceeded as error:
                _put_off(due, error)
                return False
        tick.save(update_fields=["status", "reason", "execution"])
    return True


def _stopped(trigger: Trigger) -> str:
    """Return the reason why queued ticks of the trigger no longer start; "" if they start."""
    if not trigger.enabled or trigger.workflow.archived_at is not None:
        return SWITCHED_OFF
    paused = trigger.paused_until is not None and database_now() < trigger.paused_until
    return PAUSED if paused else ""


def _put_off(due: QuerySet[CronTick], error: QuotaExceeded) -> None:
    """Delay the due ticks because of an exceeded limit, and record the reason.

    The delay is `retry_after`, at least 1 s and at most 60 s: a limit may be raised meanwhile.
    """
    seconds = min(max(error.retry_after, 1.0), LONGEST_WAIT)
    due.update(
        start_at=database_now() + timedelta(seconds=seconds),
        reason=f"Waits: {error.message}"[:200],
    )


def _unfinished(trigger: Trigger) -> list[UUID]:
    """Return the IDs of this trigger's oldest unfinished executions, at most 100.

    Reruns that users started are left out.
    """
    rows = WorkflowExecution.objects.filter(trigger=trigger, finished_at=None, origin=None)
    return list(rows.order_by("created_at").values_list("pk", flat=True)[:TICKS_AT_ONCE])


def _start_tick(trigger: Trigger, tick: CronTick, cancelled: list[UUID]) -> None:
    """Start the execution and cancel `cancelled`; record in the tick why a start is rejected.

    Raises QuotaExceeded.
    """
    due = tick.fire_at.isoformat()
    try:
        # A savepoint, so that an error during the start does not undo the tick.
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
            # After the start, because it locks the workspace, and executions are locked after their
            # workspace.
            for execution_id in cancelled:
                with suppress(WrongState):  # it ended by itself in the meantime
                    lifecycle.cancel(execution_id, actor=ACTOR, reason=f"replaced, due at {due}")
    except QuotaExceeded:
        raise
    except ValkyrError as error:
        tick.status = TickStatus.REFUSED
        tick.reason = f"{error.code}: {error.message}"[:200]
        log.warning("cron trigger %s at %s started no execution: %s", trigger.pk, due, error)
        return
    tick.status, tick.execution = TickStatus.FIRED, started.execution
    tick.reason = CAUGHT_UP if tick.reason == CAUGHT_UP else ""


# When a time of a schedule passes, store it as a row: missed, or queued for a start.
#
# The row prevents duplicates: trigger and time are unique, and the row is written under the
# trigger's lock. So concurrent beats and sweeps agree.


# Beat's clock may be slightly ahead of the database's, so a time this far in the future counts as
# due.
EARLY = timedelta(seconds=5)
# Maximum number of queued times of one trigger. Without a limit, they would accumulate behind an
# execution that never ends.
MAX_QUEUED = 1_000

TOO_MANY = f"{MAX_QUEUED:,} earlier fire times are already waiting."


def note(trigger_id: UUID, *, patient: bool = True) -> list[UUID]:
    """Write ticks for the times since the last check; return their IDs, oldest first.

    Unless `patient` is set, a trigger that another process has locked is skipped.
    """
    with transaction.atomic():
        trigger = locked(trigger_id, patient=patient)
        if trigger is None or _first(trigger) is None:
            return []
        beat_admin.follow(trigger)
        first = _first(trigger)
        if first is None:
            return []
        now = database_now()
        until = now + EARLY
        if first > until:
            return []
        its = rule(settings_of(trigger))
        decisions = decide(its, first - MICROSECOND, now, until)
        ticks = CronTick.objects.bulk_create(
            _ticks(trigger, its, decisions, now), batch_size=500, ignore_conflicts=True
        )
        trigger.next_at = following(its.schedule, until)
        trigger.save(update_fields=["next_at"])
        return [tick.pk for tick in ticks]


def _first(trigger: Trigger) -> datetime | None:
    """Return the first time without a tick; None if there is none or the trigger is disabled."""
    return trigger.next_at if trigger.enabled else None


def locked(trigger_id: UUID, *, patient: bool) -> Trigger | None:
    """Return the trigger with its workflow, locked.

    Returns None if it is missing or, unless `patient` is set, locked by another process.
    """
    return (
        Trigger.objects.select_for_update(no_key=True, of=("self",), skip_locked=not patient)
        .select_related("workflow")
        .defer("workflow__definition")
        .filter(pk=trigger_id)
        .first()
    )


def _ticks(
    trigger: Trigger, its: CronRule, decisions: list[Decision], now: datetime
) -> list[CronTick]:
    queued = CronTick.objects.filter(trigger=trigger, status=TickStatus.QUEUED).count()
    ticks = []
    for decision in decisions:
        tick = CronTick(trigger=trigger, fire_at=decision.fire_at, reason=decision.reason)
        if not decision.fires:
            tick.status = TickStatus.MISSED
        elif queued >= MAX_QUEUED:
            tick.status, tick.reason = TickStatus.SKIPPED, TOO_MANY
        else:
            queued += 1
            tick.status = TickStatus.QUEUED
            tick.start_at, tick.reason = _first_start(trigger.pk, its, decision, now)
        ticks.append(tick)
    return ticks


def _first_start(
    trigger_id: UUID, its: CronRule, decision: Decision, now: datetime
) -> tuple[datetime, str]:
    """Return the time at which the tick may start, and the reason for waiting."""
    if decision.reason == CAUGHT_UP:
        return now, CAUGHT_UP
    late = delay(trigger_id, decision.fire_at, its.jitter_seconds)
    if not late:
        return now, "Due; waits for earlier fire times."
    return decision.fire_at + late, (
        f"Due; starts {late.total_seconds():.0f} s later because of its jitter."
    )


log = logging.getLogger(__name__)
# Maximum number of triggers that one pass handles, and the seconds after which it leaves the rest
# to the next pass.
TRIGGERS_AT_ONCE, SECONDS = 100, 4.0


def fire(trigger_id: UUID) -> CronTick | None:
    """Record the due times and start their executions if allowed; skip times that have a tick.

    Returns the last new tick, with its execution or the reason for none; None if no time was due.
    """
    noted = note(trigger_id)
    if not noted:
        return None
    start_due(trigger_id)
    return CronTick.objects.filter(pk__in=noted).order_by("-fire_at").first()


def tend() -> dict[str, int]:
    """Apply beat's changes, record times without a tick and start due ticks; return the counts."""
    enough = monotonic() + SECONDS
    return {
        "followed": beat_admin.follow_all(),
        "noted": sum(_each(_note, pk) for pk in takewhile(_before(enough), _overdue())),
        "started": sum(
            _each(_start_overdue, pk) for pk in takewhile(_before(enough), _startable())
        ),
    }


@receiver(execution_ended, dispatch_uid="executions.cron_turns")
def _start_behind(*, execution_id: UUID, trigger_id: UUID | None, **_: Any) -> None:
    """Start the due ticks that waited for the end of this execution of their trigger."""
    if trigger_id is None:
        return
    row = statements.fetch_one("trigger_with_queued_ticks", {"ended": execution_id})
    if row is not None:
        start_due(row[0])


def _overdue() -> list[UUID]:
    rows = Trigger.objects.filter(
        type=TriggerType.CRON, enabled=True, next_at__lte=ClockTimestamp()
    )
    # In random order, so that triggers that cannot be handled do not hide the others.
    return list(rows.order_by("?").values_list("pk", flat=True)[:TRIGGERS_AT_ONCE])


def _startable() -> list[UUID]:
    """Return the IDs of triggers with a due tick that need not wait for an execution to end."""
    due = CronTick.objects.filter(
        trigger=OuterRef("pk"), status=TickStatus.QUEUED, start_at__lte=ClockTimestamp()
    )
    unfinished = WorkflowExecution.objects.filter(
        trigger=OuterRef("pk"), finished_at=None, origin=None
    )
    waits = Q(enabled=True, settings__overlap=QUEUE) & Q(Exists(unfinished))
    rows = Trigger.objects.filter(Exists(due), type=TriggerType.CRON).exclude(waits)
    return list(rows.order_by("?").values_list("pk", flat=True)[:TRIGGERS_AT_ONCE])


def _note(trigger_id: UUID) -> int:
    return len(note(trigger_id, patient=False))


def _start_overdue(trigger_id: UUID) -> int:
    return start_due(trigger_id, patient=False)


def _before(enough: float) -> Callable[[UUID], bool]:
    return lambda _: monotonic() < enough


def _each(serve: Callable[[UUID], int], trigger_id: UUID) -> int:
    try:
        return serve(trigger_id)
    except Exception:
        log.exception("could not process cron trigger %s; continuing with the others", trigger_id)
        return 0
