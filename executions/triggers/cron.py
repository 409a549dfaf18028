"""CRON triggers: beat knocks by the schedule, the tick's row decides whether anything starts.

Beat may knock early, late or twice: what fires is the newest due time of the schedule in the
trigger's own time zone, and each time fires once, since its row is unique.
"""

import logging
from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from croniter import croniter
from django.db import transaction

from executions.actor import Actor
from executions.clock import database_now
from executions.errors import ValkyrError
from executions.models import CronTick, Trigger
from executions.states import UNFINISHED, TriggerType
from executions.triggers.start import start_execution

log = logging.getLogger(__name__)

# Beat's clock may run a little ahead of the database's; a time this near counts as due.
EARLY = timedelta(seconds=5)
BEING_STARTED = "being started"


def fire(trigger_id: UUID) -> CronTick | None:
    """Start an execution for the newest due time, unless that time has its tick already.

    A time at which nothing could be started leaves a tick that says why. Returns the new tick, or
    None when there is nothing to do.
    """
    with transaction.atomic():
        trigger = Trigger.objects.select_related("workflow").filter(pk=trigger_id).first()
        if trigger is None or not trigger.enabled:
            return None
        settings = trigger.settings
        due = newest_time(settings["schedule"], settings["timezone"], database_now() + EARLY)
        if due is None or due <= trigger.enabled_at:
            return None
        tick, created = CronTick.objects.get_or_create(
            trigger=trigger, fire_at=due, defaults={"reason": BEING_STARTED}
        )
        if not created:
            return None
        _start(trigger, tick)
        tick.save(update_fields=["execution", "reason"])
        return tick


def newest_time(schedule: str, timezone: str, until: datetime) -> datetime | None:
    """The last time of the schedule before `until`, in UTC; None when there was none.

    An hour that clocks show twice is one time for schedules that name hours; a time that clocks
    skip is due when they go on.
    """
    zone = ZoneInfo(timezone)
    try:
        found: datetime = croniter(schedule, until.astimezone(zone)).get_prev(datetime)
    except (ValueError, KeyError) as error:
        log.warning("schedule %r has no time before %s: %s", schedule, until, error)
        return None
    if found.utcoffset() != found.replace(fold=0).utcoffset() and _names_hours(schedule):
        found = found.replace(fold=0)
    # In UTC: Python calls times of an hour shown twice unequal to everything in other zones.
    return found.astimezone(UTC)


def _names_hours(schedule: str) -> bool:
    fields = schedule.split()
    return len(fields) > 1 and not fields[1].startswith("*")


def _start(trigger: Trigger, tick: CronTick) -> None:
    """Start the execution, or write into the tick why not."""
    if trigger.settings["overlap"] == "skip" and _still_running(trigger):
        tick.reason = "The execution of an earlier time is not finished; overlap is skip."
        return
    try:
        # A savepoint: a refusal half-way must not take the tick with it.
        with transaction.atomic():
            started = start_execution(
                trigger.workflow,
                {},
                actor=Actor.system("schedule"),
                trigger_type=TriggerType.CRON,
                idempotency_key=f"cron:{trigger.pk}:{tick.fire_at.isoformat()}",
                reason=f"due at {tick.fire_at.isoformat()}",
            )
    except ValkyrError as error:
        tick.reason = f"{error.code}: {error.message}"[:200]
        log.warning("cron trigger %s at %s started nothing: %s", trigger.pk, tick.fire_at, error)
        return
    tick.execution, tick.reason = started.execution, ""


def _still_running(trigger: Trigger) -> bool:
    return CronTick.objects.filter(
        trigger=trigger, execution__state__in=sorted(UNFINISHED)
    ).exists()
