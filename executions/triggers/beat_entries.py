"""A CRON trigger's entry in celery-beat's tables: a `PeriodicTask` with its `CrontabSchedule`.

The scheduler of the project's beat sends the entry's task when it is due. Beat reads some schedules
differently (both day fields, `5/15`, `L`). Their entries have other fields, which include all times
of the schedule, and `cron.fire` decides.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from celery.schedules import ParseException, crontab
from croniter import croniter
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from executions import messaging
from executions.models import Trigger
from executions.triggers.cron_schedule import following, rule

TASK = "executions.fire_cron"
FIELDS = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
ANY = "*"
DESCRIPTION = (
    "Starts workflow {!r}. A changed crontab applies to the trigger. Disabling or deleting this "
    "entry disables the trigger; enable it again in Valkyr's admin."
)


def settings_of(trigger: Trigger) -> Mapping[str, Any]:
    """Return the trigger's settings with beat's changes; `startAt` is not before a pause's end."""
    settings: dict[str, Any] = trigger.settings | (trigger.beat or {})
    paused = trigger.paused_until
    if paused is not None:
        start = settings.get("startAt")
        if start is None or datetime.fromisoformat(start) < paused:
            settings["startAt"] = paused.isoformat()
    return settings


def entry_of(trigger: Trigger) -> PeriodicTask | None:
    """Return the trigger's entry in beat, even if it was renamed; None if there is none."""
    rows = PeriodicTask.objects.select_related("crontab").filter(task=TASK, args=_args(trigger))
    return rows.filter(name=_name(trigger)).first() or rows.first()


def entries_of(triggers: Iterable[Trigger]) -> dict[UUID, PeriodicTask]:
    """Return existing entries, keyed by trigger ID; each renamed or missing entry costs queries."""
    names = {_name(trigger): trigger for trigger in triggers}
    rows = PeriodicTask.objects.select_related("crontab").filter(name__in=names)
    found = {}
    for row in rows:
        trigger = names[row.name]
        if (row.task, row.args) == (TASK, _args(trigger)):
            found[trigger.pk] = row
    for trigger in names.values():
        if trigger.pk not in found and (entry := entry_of(trigger)) is not None:
            found[trigger.pk] = entry
    return found


def write(trigger: Trigger) -> None:
    """Make beat send this trigger's task, and set the trigger's next fire time.

    An existing entry keeps its crontab: a user may have changed it.
    """
    entry = entry_of(trigger)
    if entry is None:
        trigger.beat = None
        entry = PeriodicTask(name=_name(trigger), task=TASK, args=_args(trigger))
        entry.crontab = published_crontab(trigger)
    entry.enabled = True
    entry.queue = messaging.at_broker(messaging.CONTROL)
    entry.description = DESCRIPTION.format(trigger.workflow.name)
    entry.save()
    trigger.next_at = following(rule(settings_of(trigger)).schedule, trigger.enabled_at)
    trigger.save(update_fields=["next_at", "beat"])


def disable(trigger: Trigger) -> None:
    """Stop beat from sending a disabled trigger's task; keep the trigger's entry."""
    entry = entry_of(trigger)
    if entry is not None and entry.enabled:
        entry.enabled = False
        entry.save()


def remove(trigger: Trigger) -> None:
    """Delete the trigger's entry in beat, if there is one."""
    entry = entry_of(trigger)
    if entry is not None:
        entry.delete()


def published_crontab(trigger: Trigger) -> CrontabSchedule:
    """Return the crontab row of the published schedule, and create the row if it is missing."""
    values = published_fields(trigger)
    # Not get_or_create, because there is no unique constraint: concurrent calls may have created
    # two rows.
    found = CrontabSchedule.objects.filter(**values).first()
    return found or CrontabSchedule.objects.create(**values)


def published_fields(trigger: Trigger) -> dict[str, str]:
    """Return beat's fields for the published schedule, with its time zone."""
    fields = beat_fields(trigger.settings["schedule"])
    return fields | {"timezone": trigger.settings["timezone"]}


def beat_fields(schedule: str) -> dict[str, str]:
    """Return the fields of beat's crontab: the schedule's fields, or wider fields.

    Wider fields include all times of the schedule.
    """
    texts = schedule.split()
    values, nth = croniter.expand(schedule)
    fields = {
        name: _field(name, texts[i] if len(texts) == len(values) else "", values[i])
        for i, name in enumerate(FIELDS)
    }
    both_days = fields["day_of_month"] != ANY and fields["day_of_week"] != ANY
    if nth or both_days:
        # If both day fields are given, cron requires that either matches, and beat requires both.
        fields["day_of_month"] = fields["day_of_week"] = ANY
    return fields


def _field(name: str, text: str, values: Sequence[int | str]) -> str:
    """Return the field's text if beat reads it as croniter does; otherwise its values, or `*`."""
    if list(values) == [ANY]:
        return ANY
    if not all(isinstance(value, int) for value in values):
        return ANY
    try:
        understood = getattr(crontab(**{name: text}), name)
    except (ValueError, ParseException):
        understood = None
    return text if understood == set(values) else ",".join(map(str, values))


def _name(trigger: Trigger) -> str:
    return f"valkyr: trigger {trigger.pk}"


def _args(trigger: Trigger) -> str:
    return json.dumps([str(trigger.pk)])
