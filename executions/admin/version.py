"""Published versions, to read; they never change."""

from typing import Any

import yaml
from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from executions.admin import links, marks
from executions.admin.engine import FactAdmin
from executions.admin.filters import AgeFilter, VersionKindFilter, WorkflowFilter
from executions.admin.scope import may
from executions.admin.sections import Page, facts, json_section, text_section
from executions.admin.values import masked
from executions.definition.graph.trial import without_values
from executions.models import WorkflowVersion
from executions.states import Permission, VersionKind


@admin.register(WorkflowVersion)
class WorkflowVersionAdmin(FactAdmin):
    """What runs: definitions with everything resolved into them."""

    list_display = ("__str__", "kind", "published_by", "created")
    list_select_related = ("workflow", "published_by")
    list_filter = (WorkflowFilter, VersionKindFilter, AgeFilter)
    list_defer = ("source", "definition", "workflow__definition")
    ordering = ("-id",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")

    @display(description="published")
    def created(self, row: WorkflowVersion) -> Any:
        """How long ago it was published."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """The version as written and as it runs."""
        written, runs_as = obj.source, obj.definition
        if not may(request, obj, Permission.VIEW_PAYLOADS):
            written, runs_as = (without_values(one, "(hidden)") for one in (written, runs_as))
        if obj.kind == VersionKind.TEST:  # what was pinned may hold anything
            written = masked(written)
        source = yaml.safe_dump(written, sort_keys=False, allow_unicode=True)
        runs = links.listing("executions_workflowexecution", workflow=obj.workflow_id)
        return Page(
            [str(obj)],
            facts(
                [
                    ("Workflow", links.to("executions_workflow", obj.workflow_id, obj.workflow)),
                    ("Number", str(obj.number)),
                    ("Kind", obj.get_kind_display()),
                    ("Published", marks.ago(obj.created_at)),
                    ("By", str(obj.published_by or "")),
                    ("Executions", links.link(runs, "of this workflow")),
                    ("Checksum", marks.copyable(obj.checksum)),
                    ("Id", marks.copyable(obj.pk)),
                ]
            ),
            [
                text_section("Definition as written", source),
                json_section("Definition as it runs", runs_as),
            ],
        )
