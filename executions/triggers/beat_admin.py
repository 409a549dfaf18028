"""Apply to a trigger the changes that users make to its entry in beat's own admin.

Beat's admin belongs to the project, and some of its actions send no signal for an entry (bulk
actions, changes of a shared crontab). So this module uses no signal: `follow` reads the entry
before a fire time is recorded, and `follow_all` reads all entries after any change.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

from croniter import croniter
from django_celery_beat.models import PeriodicTask, PeriodicTasks

from executions.access.actor import Actor
from executions.database import transaction
from executions.database.clock import database_now
from executions.models import Trigger
from executions.states import TriggerType
from executions.triggers import beat_entries
from executions.triggers.beat_entries import ANY, FIELDS, entry_of, settings_of
from executions.triggers.cron_schedule import following, rule
from executions.triggers.sync import audit

log = logging.getLogger(__name__)
ACTOR = Actor.system("beat")
DELETED = "Its entry was deleted in beat's admin."
DISABLED, ENABLED = "Its entry was disabled in beat's admin.", "Its entry was enabled there."
CHANGED, RESTORED = "Its crontab was changed in beat's admin.", "Its crontab is the published one."
NO_CRONTAB = "A schedule needs a crontab: an interval, a solar event or a single time was rejected."
BOTH_DAYS = (
    "Days of the month combined with days of the week were rejected, because beat requires both "
    "to match and cron either."
)
UNREADABLE = "An invalid crontab was rejected."

_followed: datetime | None = None


def follow(trigger: Trigger) -> bool:
    """Apply beat's changes to the locked trigger; return False if there are none.

    A schedule that cannot be used is replaced with the published one.
    """
    entry = entry_of(trigger)
    if entry is None:
        return trigger.enabled and _switch(trigger, False, DELETED)
    switched = entry.enabled != trigger.enabled and _switch(
        trigger, entry.enabled, ENABLED if entry.enabled else DISABLED
    )
    if (reason := refusal(entry)) is not None:
        _put_back(trigger, entry, reason)
        return True
    wanted = changed_schedule(trigger, entry)
    if wanted == trigger.beat:
        return switched
    before = {"schedule": settings_of(trigger)["schedule"]}
    trigger.beat = wanted
    trigger.next_at = following(rule(settings_of(trigger)).schedule, database_now())
    trigger.save(update_fields=["beat", "next_at"])
    now = {"schedule": settings_of(trigger)["schedule"]}
    reason = RESTORED if wanted is None else CHANGED
    audit(ACTOR, "trigger.reschedule", trigger, reason, before=before, after=now)
    return True


def follow_all() -> int:
    """Apply all changes in beat's tables since this process last applied them all.

    Returns the number of changed triggers. If another process has locked a trigger, the next call
    reads the tables again.
    """
    global _followed  # noqa: PLW0603 - one look a process
    changed = PeriodicTasks.last_change()
    if changed is None or changed == _followed:
        return 0
    results: Counter[bool | None] = Counter()
    rows = _schedules()
    while some := list(islice(rows, 500)):
        named = beat_entries.entries_of(some)
        results.update(_follow_locked(one) for one in some if differs(one, named.get(one.pk)))
    if not results[None]:
        _followed = changed
    return results[True]


def _schedules() -> Iterator[Trigger]:
    """Yield the CRON triggers that are not retired, in workspaces that are not archived."""
    rows = Trigger.objects.filter(
        type=TriggerType.CRON, retired_at=None, workflow__workspace__archived_at=None
    )
    return rows.select_related("workflow").defer("workflow__definition").iterator(500)


def differs(trigger: Trigger, entry: PeriodicTask | None) -> bool:
    """Return whether the trigger must follow a change to its entry, such as a deletion."""
    if entry is None:
        return trigger.enabled
    if entry.enabled != trigger.enabled or refusal(entry) is not None:
        return True
    return changed_schedule(trigger, entry) != trigger.beat


def refusal(entry: PeriodicTask) -> str | None:
    """Return the reason why the entry's schedule cannot be used; None if it can."""
    if entry.crontab is None:
        return NO_CRONTAB
    if ANY not in {entry.crontab.day_of_month, entry.crontab.day_of_week}:
        return BOTH_DAYS
    return None if croniter.is_valid(_text(entry)) else UNREADABLE


def changed_schedule(trigger: Trigger, entry: PeriodicTask) -> dict[str, Any] | None:
    """Return the entry's schedule and time zone; None if the published version has the same.

    The result has the form of a trigger's settings.
    """
    zone = str(entry.crontab.timezone)
    given = {name: getattr(entry.crontab, name) for name in FIELDS}
    if given | {"timezone": zone} == beat_entries.published_fields(trigger):
        return None
    return {"schedule": _text(entry), "timezone": zone}


def _text(entry: PeriodicTask) -> str:
    return " ".join("".join(getattr(entry.crontab, name).split()) for name in FIELDS)


def _follow_locked(trigger: Trigger) -> bool | None:
    """Lock a trigger and return the result of `follow`; None if missing, retired or locked."""
    with transaction.atomic():
        row = Trigger.objects.select_for_update(no_key=True, of=("self",), skip_locked=True)
        held = row.select_related("workflow").defer("workflow__definition")
        found = held.filter(pk=trigger.pk, retired_at=None).first()
        return None if found is None else follow(found)


def _switch(trigger: Trigger, enabled: bool, reason: str) -> bool:
    trigger.enabled = enabled
    if enabled:
        trigger.enabled_at = database_now()
        trigger.next_at = following(rule(settings_of(trigger)).schedule, trigger.enabled_at)
    trigger.save(update_fields=["enabled", "enabled_at", "next_at"])
    action = "trigger.enable" if enabled else "trigger.disable"
    audit(
        ACTOR, action, trigger, reason, before={"enabled": not enabled}, after={"enabled": enabled}
    )
    return True


def _put_back(trigger: Trigger, entry: PeriodicTask, reason: str) -> None:
    """Restore the published schedule in the entry and trigger; write the reason into the entry."""
    log.warning("entry %r of beat: %s", entry.name, reason)
    entry.interval = entry.solar = entry.clocked = None
    entry.one_off = False
    entry.crontab = beat_entries.published_crontab(trigger)
    entry.description = f"{reason} {beat_entries.DESCRIPTION.format(trigger.workflow.name)}"
    entry.save()
    if trigger.beat is not None:
        trigger.beat = None
        trigger.next_at = following(rule(settings_of(trigger)).schedule, database_now())
        trigger.save(update_fields=["beat", "next_at"])
