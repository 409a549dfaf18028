"""Workflows: the draft as text, its problems on saving, and the actions publish, run, archive."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponseRedirect
from unfold.decorators import display

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin import links, marks
from executions.admin.draft import DraftForm
from executions.admin.forms import PayloadForm, ReasonForm
from executions.admin.grants import SHARE
from executions.admin.operating import OperatingAdmin
from executions.admin.operations import AdminOperation, OperationReport
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import ValkyrError
from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from executions.publishing import operations
from executions.publishing.versioning import check, warnings
from executions.triggers.start import start_execution

SHOWN_PROBLEMS = 10


def _run(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    workflow = Workflow.objects.get(pk=pk)
    return start_execution(workflow, data["payload"], actor=actor).execution


PUBLISH = AdminOperation(
    operations.PUBLISH,
    title="Publish…",
    icon="publish",
    done="published",
    question="Makes an immutable version of the draft; new executions and triggers use it.",
    form=ReasonForm,
    destination=lambda version: links.page("executions_workflowversion", version.pk),
)
RUN = AdminOperation(
    Operation(
        name="run",
        apply=_run,
        needs=Action.TRIGGER,
        refuse=lambda row: (
            "" if row.latest_version_id else "Nothing to run: publish the workflow first."
        ),
    ),
    title="Run…",
    icon="play_arrow",
    done="started",
    question="Starts one execution of the latest version.",
    form=PayloadForm,
    primary=True,
    bulk=False,
    destination=lambda execution: links.page("executions_workflowexecution", execution.pk),
)
ARCHIVE = AdminOperation(
    operations.ARCHIVE,
    title="Archive…",
    icon="archive",
    done="archived",
    question="Nothing triggers it any more; its executions stay. This cannot be undone here.",
    danger=True,
)


@admin.register(Workflow)
class WorkflowAdmin(OperatingAdmin):
    """Definitions that people edit; publishing makes versions of them."""

    form = DraftForm
    operations = (RUN, PUBLISH, SHARE, ARCHIVE)
    edits = Action.AUTHOR
    list_display = ("name", "slug", "switch", "published", "updated", "executions")
    list_select_related = ("latest_version",)
    list_filter = ("enabled",)
    list_defer = ("definition", "latest_version__source", "latest_version__definition")
    ordering = ("name",)
    empty_text = "No workflows yet: add one, or `make demo` for an example."
    search_ids = ("id",)
    search_texts = ("name", "slug")
    fields = ("workspace", "name", "slug", "enabled", "draft", "description", "revision_seen")
    warn_unsaved_form = True

    def get_queryset(self, request: HttpRequest) -> Any:
        """Those that are not put away."""
        return super().get_queryset(request).filter(archived_at=None)

    @display(description="state")
    def switch(self, row: Workflow) -> Any:
        """Whether anything can trigger it."""
        if row.enabled:
            return marks.mark("enabled", "toggle_on", "green")
        return marks.mark("off", "toggle_off", "grey")

    @display(description="published")
    def published(self, row: Workflow) -> Any:
        """The latest version."""
        if row.latest_version is None:
            return marks.mark("draft only", "edit_note", "amber")
        text = f"v{row.latest_version.number}"
        return links.to("executions_workflowversion", row.latest_version_id, text)

    @display(description="changed")
    def updated(self, row: Workflow) -> Any:
        """How long ago the draft changed."""
        return marks.ago(row.updated_at)

    @display(description="executions")
    def executions(self, row: Workflow) -> Any:
        """A link to its executions."""
        address = links.listing("executions_workflowexecution", workflow=row.pk)
        return links.link(address, "executions")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Workflows are archived, never deleted."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A workflow stays in its workspace."""
        return ("workspace",) if obj else ()

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """As Django's; what another person's simultaneous change forbids is told, not a crash."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ValkyrError as error:
            self.message_user(request, str(error), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Write through the functions that the API calls, and list the draft's problems."""
        saved = form.write(Actor.of_request(request))
        obj.pk, obj.revision = saved.pk, saved.revision
        found = check(saved.definition, saved.workspace_id, saved.pk)
        self._list(request, found, "problems")
        if not found:
            told = warnings(saved.definition, saved.workspace_id)
            self._list(request, told, "warnings")
            self.message_user(request, "The draft has no problems; it can be published.")

    def tell(
        self, request: HttpRequest, operation: AdminOperation, report: OperationReport
    ) -> None:
        """Leave the report; after publishing also what is probably a mistake in the definition."""
        super().tell(request, operation, report)
        if operation is PUBLISH and isinstance(report.result, WorkflowVersion):
            version = report.result
            found = warnings(version.source, version.workflow.workspace_id)
            self._list(request, found, "warnings")

    def _list(self, request: HttpRequest, found: list[DefinitionProblem], what: str) -> None:
        for problem in found[:SHOWN_PROBLEMS]:
            place = f"{problem.path}: " if problem.path else ""
            self.message_user(request, f"{place}{problem.message}", messages.WARNING)
        if len(found) > SHOWN_PROBLEMS:
            text = f"And {len(found) - SHOWN_PROBLEMS} {what} more."
            self.message_user(request, text, messages.WARNING)
