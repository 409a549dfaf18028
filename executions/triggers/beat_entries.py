"""A CRON trigger's entry in celery-beat's tables.

Beat reads schedules in a slightly different way than we do (both day fields, `5/15`, `L`); an
entry knocks at least whenever the schedule is due, and `cron.fire` decides.
"""

import json
from collections.abc import Sequence

from celery.schedules import ParseException, crontab
from croniter import croniter
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from executions.models import Trigger
from executions.triggers.cron_catchup import following
from executions.triggers.cron_rule import rule

TASK = "executions.fire_cron"
FIELDS = ("minute", "hour", "day_of_month", "month_of_year", "day_of_week")
ANY = "*"


def write(trigger: Trigger) -> PeriodicTask:
    """Make beat knock for this trigger, for the times after it was enabled."""
    settings = trigger.settings
    trigger.next_at = following(rule(settings).schedule, trigger.enabled_at)
    trigger.save(update_fields=["next_at"])
    values = beat_fields(settings["schedule"]) | {"timezone": settings["timezone"]}
    # No unique constraint stands behind get_or_create here: two may have been made at once.
    schedule = CrontabSchedule.objects.filter(**values).first()
    if schedule is None:
        schedule = CrontabSchedule.objects.create(**values)
    return PeriodicTask.objects.create(
        name=_name(trigger),
        crontab=schedule,
        task=TASK,
        args=json.dumps([str(trigger.pk)]),
        queue="control",
        description=f"Starts workflow {trigger.workflow.name!r}; publishing keeps this entry.",
    )


def remove(trigger: Trigger) -> None:
    """Stop beat knocking for this trigger."""
    for entry in PeriodicTask.objects.filter(name=_name(trigger)):
        entry.delete()


def beat_fields(schedule: str) -> dict[str, str]:
    """The five fields of beat's crontab: the schedule's own, or wider ones that contain it."""
    texts = schedule.split()
    values, nth = croniter.expand(schedule)
    fields = {
        name: _field(name, texts[i] if len(texts) == len(values) else "", values[i])
        for i, name in enumerate(FIELDS)
    }
    both_days = fields["day_of_month"] != ANY and fields["day_of_week"] != ANY
    if nth or both_days:
        # With both day fields given, cron means either, beat means both.
        fields["day_of_month"] = fields["day_of_week"] = ANY
    return fields


def _field(name: str, text: str, values: Sequence[int | str]) -> str:
    """The field's own text where beat reads it alike, else its values, else any."""
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
