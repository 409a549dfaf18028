"""Published events, each with its result."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from executions.admin import links, marks
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter
from executions.admin.scope import may
from executions.admin.sections import Page, PageSection, facts, payload_section
from executions.admin.skin import display
from executions.language import lazy
from executions.models import Event
from executions.payload_store.reading import shown
from executions.states import Permission


@admin.register(Event)
class EventAdmin(FactAdmin):
    """Events, each with the executions it started and the workflows it could not start."""

    list_display = ("when", "name", "event_short", "outcome")
    list_display_links = ("when",)
    list_filter = (AgeFilter,)
    list_defer = ("payload",)
    ordering = ("-id",)
    empty_text = lazy("No events. Publish events with the API operation publishEvent.")
    search_ids = ("id",)
    search_texts = ("name", "event_id")

    @display(description=lazy("when"))
    def when(self, row: Event) -> Any:
        """Return the time since the event was published."""
        return marks.ago(row.created_at)

    @display(description=lazy("sender's ID"))
    def event_short(self, row: Event) -> str:
        """Return the ID that the sender gave to the event."""
        return marks.clipped(row.event_id, 40)

    @display(description=lazy("outcome"))
    def outcome(self, row: Event) -> str:
        """Return how many executions the event started, and how many starts were rejected."""
        refused = sum("code" in made for made in row.started)
        text = gettext("{count} started").format(count=len(row.started) - refused)
        return (
            gettext("{text}, {refused} rejected").format(text=text, refused=refused)
            if refused
            else text
        )

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of an event, with its result and its payload."""
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        payload = shown(obj.workspace_id, obj.payload) if sees else None
        return Page(
            [f"{obj.name}: {self.outcome(obj)}"],
            facts(
                [
                    (gettext("Workspace"), str(obj.workspace)),
                    (gettext("Published"), marks.ago(obj.created_at)),
                    (gettext("Waiting runs checked"), marks.ago(obj.delivered_at)),
                    (gettext("Sender's ID"), marks.copyable(obj.event_id)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
            [
                _made(obj),
                payload_section(gettext("Payload"), payload, shown=sees, folded=False),
            ],
        )


def _made(event: Event) -> PageSection:
    return PageSection(
        gettext("Started executions"),
        headers=(gettext("Trigger"), gettext("Execution"), gettext("Reason for not starting")),
        rows=[
            (
                _link("executions_trigger", made["triggerId"]),
                _link("executions_workflowexecution", made.get("executionId")),
                made.get("message", ""),
            )
            for made in event.started
        ],
        empty=gettext("No trigger listened for this event."),
    )


def _link(model: str, pk: str | None) -> Any:
    return links.to(model, pk, marks.short(pk)) if pk else marks.EMPTY
