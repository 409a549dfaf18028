"""Every time of a schedule becomes a row as it passes: missed, or queued to be started.

The row is the guard: unique on trigger and time, written under the trigger's lock, so that beats
and sweeps that look at once agree.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from executions.database.clock import database_now
from executions.models import CronTick, Trigger
from executions.states import TickStatus
from executions.triggers.cron_catchup import CAUGHT_UP, MICROSECOND, Decision, decide, following
from executions.triggers.cron_rule import CronRule, delay, rule

# Beat's clock may run a little ahead of the database's; a time this near counts as due.
EARLY = timedelta(seconds=5)
# How many times of one trigger may wait at once; an execution that never ends would pile them up.
MAX_QUEUED = 1_000

TOO_MANY = f"{MAX_QUEUED:,} earlier times wait to be started already."


def note(trigger_id: UUID, *, patient: bool = True) -> list[UUID]:
    """Write the ticks of the times since the last look; returns their ids, oldest first.

    Without patience a trigger that somebody else looks at is left to them.
    """
    with transaction.atomic():
        trigger = locked(trigger_id, patient=patient)
        if trigger is None or not trigger.enabled or trigger.next_at is None:
            return []
        now = database_now()
        until = now + EARLY
        if trigger.next_at > until:
            return []
        its = rule(trigger.settings)
        decisions = decide(its, trigger.next_at - MICROSECOND, now, until)
        ticks = CronTick.objects.bulk_create(
            _ticks(trigger, its, decisions, now), batch_size=500, ignore_conflicts=True
        )
        trigger.next_at = following(its.schedule, until)
        trigger.save(update_fields=["next_at"])
        return [tick.pk for tick in ticks]


def locked(trigger_id: UUID, *, patient: bool) -> Trigger | None:
    """The trigger with its workflow, locked; None if there is none or, without patience, held."""
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
            tick.start_at, tick.reason = _start(trigger.pk, its, decision, now)
        ticks.append(tick)
    return ticks


def _start(
    trigger_id: UUID, its: CronRule, decision: Decision, now: datetime
) -> tuple[datetime, str]:
    """When the time may be started, and why not before."""
    if decision.reason == CAUGHT_UP:
        return now, CAUGHT_UP
    late = delay(trigger_id, decision.fire_at, its.jitter_seconds)
    if not late:
        return now, "Due; waits for its turn."
    return decision.fire_at + late, f"Due; starts {late.total_seconds():.0f} s later by its jitter."
