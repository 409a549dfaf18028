"""Dead letters: a list that opens on what is open, a page that says what failed, what to do."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from dlq.admin.copying import CopyingAdmin
from dlq.admin.entry_list import EntryList
from dlq.admin.entry_operations import ALL
from dlq.admin.entry_page import AROUND, entry_facts, marked, sections
from dlq.admin.exporting import ExportingAdmin
from dlq.admin.story import sentence
from dlq.admin.whereabouts import whereabouts
from dlq.browse import seen
from dlq.models import DeadLetterEntry
from dlq.revealing import FIELDS
from executions.access import Action
from executions.access.actor import Actor, record
from executions.admin.engine import FactAdmin
from executions.admin.operating import OperatingAdmin
from executions.admin.revealing import reveal_operation
from executions.admin.scope import holds, may
from executions.admin.sections import Page, facts
from executions.states import Permission


@admin.register(DeadLetterEntry)
class DeadLetterEntryAdmin(ExportingAdmin, EntryList, CopyingAdmin, OperatingAdmin, FactAdmin):
    """The engine owns these rows; only the notes can be edited."""

    operations = (*ALL, reveal_operation(DeadLetterEntry, FIELDS))

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """For the notes, which who may operate executions writes."""
        if obj is None:
            return holds(request, Action.OPERATE)
        return may(request, obj, Action.OPERATE)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The notes, below the facts."""
        return [(None, {"fields": ("notes",)})]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Write the notes and nothing else: the engine may have moved the row meanwhile."""
        if "notes" not in form.changed_data:
            return
        rows = DeadLetterEntry.objects.filter(pk=obj.pk)
        before = rows.values("notes").get()
        rows.update(notes=obj.notes)
        record(
            Actor.of_request(request),
            "dead_letter.note",
            workspace_id=obj.workspace_id,
            object_type="DeadLetterQueue",
            object_id=obj.pk,
            before=before,
            after={"notes": obj.notes},
        )

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """The story of one failure."""
        seen.note(request, obj)
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        lead = [marked(obj), sentence(obj), whereabouts(obj)]
        return Page(lead, facts(entry_facts(obj)), list(sections(request, obj, sees=sees)))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """A page tells of much around its entry, which comes with it in one query."""
        rows = super().get_queryset(request)
        match = request.resolver_match
        if match is None or not (match.url_name or "").endswith("_change"):
            return rows
        return rows.select_related(*AROUND)
