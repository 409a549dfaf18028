"""Triggers of published versions, and the record of each fire time."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from executions import addresses
from executions.admin import links, marks, trigger_operations
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter, TabFilter
from executions.admin.sections import Page, PageSection, facts, json_section
from executions.admin.skin import display
from executions.admin.trigger_calendar import TICKS, calendar
from executions.language import lazy
from executions.models import CronTick, Trigger
from executions.states import TickStatus, TriggerType
from executions.triggers import beat_entries
from executions.triggers.cron_schedule import rule, upcoming

# Number of future fire times and of past ticks on a schedule's page.
NEXT_TIMES, LATEST_TICKS = 5, 10


HOW_SIGNED = {
    "hmac": "X-Valkyr-Signature: t=<unix seconds>,v1=<HMAC-SHA256 of <t>.<body>, in hex>",
    "bearer": "Authorization: Bearer <secret>",
}


def facts_of(trigger: Trigger) -> list[tuple[str, Any]]:
    """Return labelled facts about a webhook, event or queue trigger; [] for a schedule."""
    settings = trigger.settings
    if trigger.type == TriggerType.WEBHOOK:
        return [
            (gettext("Address"), marks.copyable(addresses.api("webhook", trigger.pk))),
            (gettext("Authentication"), HOW_SIGNED.get(settings.get("auth", ""))),
            (gettext("Secret version"), str(trigger.secret_version)),
            (gettext("Previous secret"), _former(trigger)),
        ]
    if trigger.type == TriggerType.EVENT:
        events = links.listing("executions_event", q=settings.get("event", ""))
        return [(gettext("Events"), links.link(events, gettext("Events with this name")))]
    if trigger.type == TriggerType.QUEUE:
        refused = links.listing("executions_refusedmessage", q=str(trigger.pk))
        return [
            (gettext("Consumer command"), marks.copyable(f"manage.py consume {trigger.pk}")),
            (gettext("Refused"), links.link(refused, gettext("Refused messages"))),
        ]
    return []


def _former(trigger: Trigger) -> str:
    """Return, in words, until when the previous secret is accepted, or that none is accepted."""
    until = trigger.former_secret_until
    if until is None or until <= timezone.now():
        return gettext("rejected") if trigger.secret_version > 1 else gettext("none")
    return gettext("accepted until {until:%Y-%m-%d %H:%M} UTC").format(until=until)


def _paused(trigger: Trigger) -> bool:
    return trigger.paused_until is not None and trigger.paused_until > timezone.now()


def standing(trigger: Trigger) -> str:
    """Return "yes" (and until when the trigger is paused), or "no" and the reason, as text."""
    if trigger.enabled and _paused(trigger):
        return gettext("yes, paused until {until:%Y-%m-%d %H:%M} UTC").format(
            until=trigger.paused_until
        )
    if trigger.enabled:
        return gettext("yes")
    return (
        gettext("no: not in the published version")
        if trigger.retired_at
        else gettext("no: disabled")
    )


@admin.register(Trigger)
class TriggerAdmin(OperatingAdmin, FactAdmin):
    """Triggers; publishing updates them from the definition's `triggers:`."""

    operations = trigger_operations.OPERATIONS
    list_display = ("workflow", "type", "when_due", "due", "enabled", "created")
    list_select_related = ("workflow",)
    list_filter = ("type", "enabled")
    list_defer = ("workflow__definition",)
    ordering = ("-id",)
    empty_text = lazy("No triggers. Publish a version with “triggers:” to add them.")
    empty_about = lazy(
        "A trigger starts a workflow: on a schedule, or for a webhook, an event or a queue message."
    )
    empty_links = ((lazy("Add a trigger in the studio"), "valkyr-studio"),)
    whole_lists = ({}, {"type__exact": "CRON"})
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")

    @display(description=lazy("settings"))
    def when_due(self, row: Trigger) -> str:
        """Return the trigger's settings in one line."""
        return ", ".join(f"{key}: {value}" for key, value in row.settings.items()) or marks.EMPTY

    @display(description=lazy("next fire time"))
    def due(self, row: Trigger) -> Any:
        """Return the time until an enabled schedule's next fire time; otherwise a dash."""
        return marks.ago(row.next_at) if row.enabled else marks.EMPTY

    @display(description=lazy("created"))
    def created(self, row: Trigger) -> Any:
        """Return the time since the trigger was created."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a trigger with its settings and, for a schedule, its fire times."""
        ticks = links.listing("executions_crontick", q=str(obj.pk))
        return Page(
            [
                gettext("{get_type_display} trigger of {workflow}").format(
                    get_type_display=obj.get_type_display().capitalize(), workflow=obj.workflow
                )
            ],
            facts(
                [
                    (
                        gettext("Workflow"),
                        links.to("executions_workflow", obj.workflow_id, obj.workflow),
                    ),
                    (gettext("Enabled"), standing(obj)),
                    (gettext("Since"), marks.ago(obj.created_at)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                    *(
                        [
                            (gettext("Next fire time"), _next(obj)),
                            (gettext("Beat entry"), _entry(obj)),
                            (
                                gettext("Fire times"),
                                links.link(ticks, gettext("Schedule ticks")),
                            ),
                        ]
                        if obj.type == TriggerType.CRON
                        else []
                    ),
                    *facts_of(obj),
                ]
            ),
            [
                *(_times(obj) if obj.type == TriggerType.CRON else []),
                json_section(gettext("Settings"), obj.settings, folded=False),
            ],
        )


def _times(trigger: Trigger) -> list[PageSection]:
    """Return a schedule's calendar, its next fire times, and its latest fire times with results."""
    ahead: list[datetime] = []
    if trigger.enabled and "schedule" in trigger.settings:
        schedule = rule(beat_entries.settings_of(trigger)).schedule
        ahead = upcoming(schedule, timezone.now(), NEXT_TIMES)
    zone = ZoneInfo(trigger.settings.get("timezone", "UTC"))
    ticks = trigger.ticks.order_by("-fire_at")[:LATEST_TICKS]
    return [
        calendar(trigger, timezone.now()),
        PageSection(
            gettext("Next fire times"),
            headers=("UTC", str(zone), gettext("Due")),
            rows=[
                [_minute(time), _minute(time.astimezone(zone)), marks.ago(time)] for time in ahead
            ],
            empty=gettext(
                "The schedule is disabled, or it has no fire times in the next 400 days."
            ),
        ),
        PageSection(
            gettext("Latest fire times"),
            headers=("UTC", gettext("Status"), gettext("Execution"), gettext("Reason")),
            rows=[
                [
                    links.to("executions_crontick", tick.pk, _minute(tick.fire_at)),
                    marks.mark(*TICKS[TickStatus(tick.status)]),
                    _execution_of(tick),
                    tick.reason or marks.EMPTY,
                ]
                for tick in ticks
            ],
            empty=gettext("The schedule has not fired yet."),
        ),
    ]


def _minute(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


def _execution_of(tick: CronTick) -> Any:
    if tick.execution_id is None:
        return marks.EMPTY
    return links.to(
        "executions_workflowexecution", tick.execution_id, marks.short(tick.execution_id)
    )


def _next(trigger: Trigger) -> Any:
    if not trigger.enabled:
        return gettext("none: disabled")
    return (
        marks.ago(trigger.next_at) if trigger.next_at else gettext("none: the schedule has ended")
    )


def _entry(trigger: Trigger) -> Any:
    """Return a link to the schedule's entry in beat's admin, or a note that there is none."""
    entry = beat_entries.entry_of(trigger)
    if entry is None:
        return gettext("none: beat has no entry for the schedule")
    said = "" if entry.enabled else gettext(" (disabled)")
    own = (
        gettext(" (instead of {schedule})").format(schedule=trigger.settings["schedule"])
        if trigger.beat
        else ""
    )
    return links.to("django_celery_beat_periodictask", entry.pk, f"{entry.crontab}{own}{said}")


def _local(tick: CronTick) -> str:
    """Return the fire time in the schedule's time zone."""
    zone = tick.trigger.settings.get("timezone", "UTC")
    return f"{tick.fire_at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M %Z} ({zone})"


class StatusFilter(TabFilter):
    """Filter ticks by their result."""

    title = lazy("status")
    parameter_name = field = "status"
    groups = {word: (status.value,) for status, (word, _, _) in TICKS.items()}


@admin.register(CronTick)
class CronTickAdmin(FactAdmin):
    """Fire times of schedules, each with the execution that it started, or why it started none."""

    list_display = ("due", "workflow", "mark", "started", "reason")
    list_select_related = ("trigger__workflow",)
    list_filter = (StatusFilter, AgeFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = ("trigger__workflow__definition", "trigger__settings")
    ordering = ("-id",)
    workspace_path = "trigger__workflow__workspace_id"
    search_ids = ("id", "trigger_id", "execution_id")

    @display(description=lazy("due"))
    def due(self, row: CronTick) -> Any:
        """Return the fire time in UTC."""
        return marks.whole(f"{row.fire_at:%Y-%m-%d %H:%M}")

    @display(description=lazy("workflow"))
    def workflow(self, row: CronTick) -> str:
        """Return the workflow of the schedule."""
        return str(row.trigger.workflow)

    @display(description=lazy("status"))
    def mark(self, row: CronTick) -> Any:
        """Return the tick's result as a word with an icon and a colour."""
        return marks.mark(*TICKS[TickStatus(row.status)])

    @display(description=lazy("execution"))
    def started(self, row: CronTick) -> Any:
        """Return a link to the started execution; a dash if there is none."""
        return _execution_of(row)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a fire time, with its result."""
        return Page(
            [
                gettext("{workflow} was due at {fire_at:%Y-%m-%d %H:%M:%S} UTC").format(
                    workflow=obj.trigger.workflow, fire_at=obj.fire_at
                )
            ],
            facts(
                [
                    (gettext("Status"), self.mark(obj)),
                    (gettext("In the schedule's time zone"), _local(obj)),
                    (gettext("Earliest start"), marks.ago(obj.start_at)),
                    (gettext("Execution"), self.started(obj)),
                    (gettext("Reason"), obj.reason),
                    (gettext("Recorded"), marks.ago(obj.created_at)),
                    (
                        gettext("Trigger"),
                        links.to("executions_trigger", obj.trigger_id, obj.trigger),
                    ),
                ]
            ),
        )
