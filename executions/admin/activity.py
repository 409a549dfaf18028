"""The audit trail, to read."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from executions.admin import marks
from executions.admin.engine import FactAdmin
from executions.admin.filters import AgeFilter
from executions.admin.sections import Page, facts, json_section
from executions.models import Activity


@admin.register(Activity)
class ActivityAdmin(FactAdmin):
    """Who did what to which object, when and why."""

    list_display = ("when", "actor_name", "action", "object_type", "object_short", "reason_short")
    list_display_links = ("when",)
    list_filter = (AgeFilter,)
    list_defer = ("details",)
    ordering = ("-id",)
    search_ids = ("id", "object_id")
    search_texts = ("actor_name", "action")

    @display(description="when")
    def when(self, row: Activity) -> Any:
        """How long ago."""
        return marks.ago(row.created_at)

    @display(description="object")
    def object_short(self, row: Activity) -> Any:
        """The object's id, shortened."""
        return marks.short(row.object_id)

    @display(description="reason")
    def reason_short(self, row: Activity) -> str:
        """The beginning of the reason."""
        return marks.clipped(row.reason) or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """One line of the trail."""
        return Page(
            [f"{obj.actor_name}: {obj.action}"],
            facts(
                [
                    ("When", marks.ago(obj.created_at)),
                    ("Workspace", str(obj.workspace)),
                    ("Who", obj.actor_name),
                    ("Action", obj.action),
                    ("Object", obj.object_type),
                    ("Object id", marks.copyable(obj.object_id)),
                    ("Reason", obj.reason),
                ]
            ),
            [json_section("Details", obj.details, folded=False)],
        )
