"""Dead letters: a list that opens on what is open, a page that says what failed, what to do."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html

from dlq.admin.entry_list import EntryList
from dlq.admin.entry_operations import ALL
from dlq.admin.marks import resolution
from dlq.admin.story import attempts_section, sentence
from dlq.models import DeadLetterEntry
from dlq.revealing import FIELDS
from executions.access import Action
from executions.actor import Actor, record
from executions.admin import links, marks
from executions.admin.done import done_to
from executions.admin.engine import FactAdmin
from executions.admin.operating import OperatingAdmin
from executions.admin.revealing import reveal_operation
from executions.admin.scope import holds, may
from executions.admin.sections import Page, Section, facts, payload_section, text_section
from executions.states import Permission
from runners.admin.run import state_of


@admin.register(DeadLetterEntry)
class DeadLetterEntryAdmin(EntryList, OperatingAdmin, FactAdmin):
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
        run = obj.run
        sections: list[Section] = [
            text_section("Error", run.error or obj.failure_reason, error=True),
        ]
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        trace = (run.error_details or {}).get("traceback")
        if trace:
            sections.append(text_section("Traceback", str(trace), folded=True))
        sections += [
            attempts_section(obj),
            payload_section("Inputs", obj.original_inputs, shown=sees, folded=False),
            payload_section("Configuration", obj.original_config, shown=sees),
            done_to(obj.pk),
        ]
        lead = [resolution(obj.resolution), sentence(obj)]
        return Page(lead, facts(self._facts(obj)), sections)

    def _facts(self, obj: DeadLetterEntry) -> list[tuple[str, Any]]:
        execution = marks.short(obj.execution_id)
        same = links.listing("dlq_deadletterentry", q=obj.fingerprint, resolution="all")
        new = obj.requeued_run and format_html(
            "{} {}",
            links.to("runners_run", obj.requeued_run_id, f"attempt {obj.requeued_run.attempt}"),
            state_of(obj.requeued_run),
        )
        return [
            ("Execution", links.to("executions_workflowexecution", obj.execution_id, execution)),
            ("Run", links.to("runners_run", obj.run_id, f"{obj.step_path} #{obj.run.attempt}")),
            ("Module", obj.module),
            ("Same failures", links.link(same, "with this fingerprint")),
            ("Resolved", marks.ago(obj.resolved_at)),
            ("Reviewed by", str(obj.reviewed_by or "")),
            ("Requeued as", new),
            ("Kept until", marks.ago(obj.expires_at) if obj.expires_at else "it is resolved"),
            ("Id", marks.copyable(obj.pk)),
        ]
