"""Workflows in the admin: the draft as text, its problems when saved, and operations."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponseRedirect
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext, ngettext

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter, VersionKindFilter, WorkflowFilter
from executions.admin.grants import SHARE
from executions.admin.operations import AdminOperation, OperationReport, PayloadForm, ReasonForm
from executions.admin.scope import may
from executions.admin.search import search
from executions.admin.sections import Page, facts, json_section, text_section
from executions.admin.skin import Textarea, display
from executions.admin.values import masked, preformatted
from executions.bundles.managed import git_state
from executions.definition.graph.document import DefinitionError, load_text
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.graph.trial import without_values
from executions.definition.graph.yaml_document import definition_yaml
from executions.errors import ValkyrError
from executions.language import lazy
from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from executions.publishing import operations
from executions.publishing.versioning import check, create_workflow, update_workflow, warnings
from executions.states import Permission, VersionKind
from executions.triggers.start import start_execution

# The form of a workflow's draft, a definition as YAML or JSON text.
#
# `executions.publishing.versioning` saves it. A form that was opened before another user saved is
# rejected, and keeps its text.


EXAMPLE = """\
schema: valkyr/1
name: hello
tasks:
  - id: greet
    use: flow.noop
"""


def as_yaml(definition: Any) -> str:
    """Return the stored draft as YAML; an example for an empty draft."""
    if not definition:
        return EXAMPLE
    return definition_yaml(definition)


class DraftForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form of a workflow: its workspace, name and other fields, and the definition's text."""

    draft = forms.CharField(
        label=lazy("Definition"),
        strip=False,
        widget=Textarea(attrs={"rows": 28, "spellcheck": "false"}),
        help_text=lazy(
            "YAML or JSON. You can save a draft with problems. The page then lists them."
        ),
    )
    revision_seen = forms.IntegerField(required=False, widget=forms.HiddenInput)

    class Meta:
        model = Workflow
        fields = ("workspace", "name", "slug", "description", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:
            self.fields["slug"].required = False
            self.fields["slug"].help_text = gettext("Leave empty to derive it from the name.")
        if "description" in self.fields:
            self.fields["description"].widget.attrs["rows"] = 3
        if "draft" in self.fields:
            widget = self.fields["draft"].widget
            widget.attrs["class"] = f"{widget.attrs.get('class', '')} vk-code vk-definition"
            self.fields["draft"].initial = as_yaml(self.instance.definition)
            self.fields["revision_seen"].initial = self.instance.revision

    def clean_draft(self) -> Any:
        """Return the document that the text describes. Raises ValidationError."""
        text = self.cleaned_data["draft"]
        kind = "json" if text.lstrip().startswith("{") else "yaml"
        try:
            return load_text(text, content_type=kind)
        except DefinitionError as error:
            raise forms.ValidationError(
                [f"{p.path}: {p.message}" if p.path else p.message for p in error.problems]
            ) from None

    def clean(self) -> dict[str, Any]:
        """Return the values; report a taken slug. Raises ValidationError if the revision is old."""
        data = super().clean() or {}
        seen = data.get("revision_seen")
        if self.instance.pk and seen and not self.instance._state.adding:
            now = Workflow.objects.values_list("revision", flat=True).get(pk=self.instance.pk)
            if now != seen:
                raise forms.ValidationError(
                    gettext(
                        "Another user saved revision {now} after you opened revision {seen}. Copy "
                        "your changes, reload the page and make them again."
                    ).format(now=now, seen=seen)
                )
        self._check_slug(data)
        return data

    def _check_slug(self, data: dict[str, Any]) -> None:
        """Report a taken slug and keep the form's text; the index rejects concurrent duplicates."""
        slug = data.get("slug") or slugify(data.get("name", ""))[:80]
        workspace = data.get("workspace") or (
            None if self.instance._state.adding else self.instance.workspace
        )
        taken = Workflow.objects.filter(workspace=workspace, slug=slug, archived_at=None)
        if workspace and slug and taken.exclude(pk=self.instance.pk).exists():
            self.add_error(
                "slug",
                gettext(
                    "Another workflow of this workspace has the slug {slug!r}. Choose another slug."
                ).format(slug=slug),
            )

    def write(self, actor: Actor) -> Workflow:
        """Create or update the workflow. Raises ValkyrError."""
        data = self.cleaned_data
        if self.instance._state.adding:
            created = create_workflow(
                data["workspace"],
                name=data["name"],
                definition=data["draft"],
                actor=actor,
                slug=data.get("slug") or None,
                description=data.get("description", ""),
            )
            if not data.get("enabled", True):
                created = update_workflow(
                    created.pk, {"enabled": False}, actor=actor, expected_revision=None
                )
            return created
        changes: dict[str, Any] = {
            name: data[name]
            for name in ("name", "slug", "description", "enabled")
            if name in data and (name != "slug" or data["slug"])
        }
        if "draft" in data:  # missing for a workflow from code, whose draft is read-only
            changes["definition"] = data["draft"]
        return update_workflow(
            self.instance.pk,
            changes,
            actor=actor,
            expected_revision=data.get("revision_seen"),
        )


SHOWN_PROBLEMS = 10
FROM_CODE = ("code", "workspace", "name", "slug", "draft", "description")


def _run(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowExecution:
    workflow = Workflow.objects.get(pk=pk)
    return start_execution(workflow, data["payload"], actor=actor).execution


PUBLISH = AdminOperation(
    operations.PUBLISH,
    title=lazy("Publish…"),
    icon="publish",
    done=lazy("published"),
    question=lazy(
        "Publishes the draft as an immutable version. New executions and triggers use it."
    ),
    form=ReasonForm,
    destination=lambda version: links.page("executions_workflowversion", version.pk),
)
RUN = AdminOperation(
    Operation(
        name="run",
        apply=_run,
        needs=Action.TRIGGER,
        refuse=lambda row: "" if row.latest_version_id else gettext("Publish the workflow first."),
    ),
    title=lazy("Run…"),
    icon="play_arrow",
    done=lazy("started"),
    question=lazy("Starts one execution with this payload."),
    form=PayloadForm,
    primary=True,
    bulk=False,
    destination=lambda execution: links.page("executions_workflowexecution", execution.pk),
)
TAKE_OVER = AdminOperation(
    operations.TAKE_OVER,
    title=lazy("Create editable copy…"),
    icon="edit_document",
    done=lazy("copied"),
    question=lazy(
        "Creates an editable draft copy. Nothing triggers the copy until you publish it. The "
        "original workflow does not change."
    ),
    form=ReasonForm,
    primary=True,
    bulk=False,
    destination=lambda copy: links.page("executions_workflow", copy.pk),
)
ARCHIVE = AdminOperation(
    operations.ARCHIVE,
    title=lazy("Archive…"),
    icon="archive",
    done=lazy("archived"),
    question=lazy(
        "No new executions start. Running executions finish, and all executions are kept. You "
        "cannot undo this."
    ),
    danger=True,
)


@admin.register(Workflow)
class WorkflowAdmin(OperatingAdmin):
    """Workflows: definitions that users edit and publish as versions."""

    form = DraftForm
    operations = (RUN, TAKE_OVER, PUBLISH, SHARE, ARCHIVE)
    edits = Action.AUTHOR
    list_display = ("name", "slug", "origin", "switch", "published", "updated", "executions")
    list_select_related = ("latest_version",)
    list_filter = ("enabled",)
    list_defer = ("definition", "latest_version__source", "latest_version__definition")
    ordering = ("name",)
    empty_text = lazy("No workflows yet. Add one, or publish one with “valkyr publish”.")
    empty_about = lazy(
        "A workflow is a graph of steps. Draw it in the studio, or write it in Python or YAML."
    )
    empty_links = ((lazy("Create a workflow from a template"), "valkyr-studio"),)
    search_ids = ("id",)
    search_texts = ("name", "slug")
    fields = ("workspace", "name", "slug", "enabled", "draft", "description", "revision_seen")
    warn_unsaved_form = True

    def get_queryset(self, request: HttpRequest) -> Any:
        """Return the workflows that are not archived."""
        return super().get_queryset(request).filter(archived_at=None)

    def get_urls(self) -> list[Any]:
        """Return Django's URLs, and the URL of the search over all pages."""
        view = self.admin_site.admin_view(search)
        return [path("search/", view, name="executions_workflow_search"), *super().get_urls()]

    @display(description=lazy("state"))
    def switch(self, row: Workflow) -> Any:
        """Return a mark that says whether the workflow is enabled."""
        if row.enabled:
            return marks.mark(gettext("enabled"), "toggle_on", "green")
        return marks.mark(gettext("disabled"), "toggle_off", "grey")

    @display(description=lazy("published"))
    def published(self, row: Workflow) -> Any:
        """Return a link to the latest version, or a mark if there is none."""
        if row.latest_version is None:
            return marks.mark(gettext("draft only"), "edit_note", "amber")
        text = f"v{row.latest_version.number}"
        return links.to("executions_workflowversion", row.latest_version_id, text)

    @display(description=lazy("changed"))
    def updated(self, row: Workflow) -> Any:
        """Return the time since the draft was last changed."""
        return marks.ago(row.updated_at)

    @display(description=lazy("executions"))
    def executions(self, row: Workflow) -> Any:
        """Return a link to the workflow's executions."""
        address = links.listing("executions_workflowexecution", workflow=row.pk)
        return links.link(address, gettext("executions"))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Forbid deletion: workflows are archived, never deleted."""
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Return the form's fields, with the code's location or the Git state, if any."""
        if obj is None:
            return self.fields
        if obj.origin:
            return ("code", *self.fields)
        state = git_state(obj)
        return ("git", *self.fields) if state.managed or state.locked else self.fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Keep the workspace read-only; for code workflows, keep all but `enabled` read-only."""
        if obj is None:
            return ()
        return FROM_CODE if obj.origin else ("git", "workspace")

    @display(description=lazy("defined in"))
    def code(self, row: Workflow) -> str:
        """Return a sentence with the location of the workflow's code."""
        return gettext(
            "{origin_place}. Change the workflow there, or create a copy to edit here."
        ).format(origin_place=row.origin_place)

    @display(description=lazy("Git"))
    def git(self, row: Workflow) -> str:
        """Return the Git commit, if any, and whether only `valkyr apply` publishes the workflow."""
        state = git_state(row)
        said = []
        if state.managed and state.commit:
            text = gettext("Managed from Git, commit {commit} of {repository}.")
            said.append(text.format(commit=state.short_commit, repository=state.repository or "?"))
        elif state.managed:
            said.append(gettext("Managed from Git."))
        if state.locked:
            said.append(gettext("Only “valkyr apply” publishes and archives this workflow."))
        return " ".join(said)

    @display(description=lazy("definition"))
    def draft(self, row: Workflow) -> Any:
        """Return the definition that the workflow's code describes, as YAML."""
        return preformatted(as_yaml(row.definition))

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """Show the form as Django does; report a rejected change as a message."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except ValkyrError as error:
            self.message_user(request, str(error), messages.ERROR)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save with the API's functions; list the draft's problems or, if none, its warnings."""
        saved = form.write(Actor.of_request(request))
        obj.pk, obj.revision = saved.pk, saved.revision
        found = check(saved.definition, saved.workspace_id, saved.pk)
        self._list(request, found, _more_problems)
        if not found:
            told = warnings(saved.definition)
            self._list(request, told, _more_warnings)
            self.message_user(request, gettext("The draft has no problems; it can be published."))

    def may_operate(self, request: HttpRequest, operation: AdminOperation, row: Any = None) -> bool:
        """Return whether the user may perform the operation on the row.

        To create a copy, the user also needs the power in the workspace.
        """
        allowed = super().may_operate(request, operation, row)
        if operation is TAKE_OVER and row is not None:
            return allowed and may(request, row.workspace, operation.needs)
        return allowed

    def tell(
        self, request: HttpRequest, operation: AdminOperation, report: OperationReport
    ) -> None:
        """Store the report as a message; after publishing, add the definition's warnings."""
        super().tell(request, operation, report)
        if operation is PUBLISH and isinstance(report.result, WorkflowVersion):
            version = report.result
            found = warnings(version.source)
            self._list(request, found, _more_warnings)

    def _list(
        self, request: HttpRequest, found: list[DefinitionProblem], more: Callable[[int], str]
    ) -> None:
        for problem in found[:SHOWN_PROBLEMS]:
            place = f"{problem.path}: " if problem.path else ""
            self.message_user(request, f"{place}{problem.message}", messages.WARNING)
        if len(found) > SHOWN_PROBLEMS:
            self.message_user(request, more(len(found) - SHOWN_PROBLEMS), messages.WARNING)


def _more_problems(count: int) -> str:
    text = ngettext("And {count} more problem.", "And {count} more problems.", count)
    return text.format(count=count)


def _more_warnings(count: int) -> str:
    text = ngettext("And {count} more warning.", "And {count} more warnings.", count)
    return text.format(count=count)


# Pages of versions, which are read-only because versions never change.


@admin.register(WorkflowVersion)
class WorkflowVersionAdmin(FactAdmin):
    """Versions, each with its definition as written and with all defaults filled in."""

    list_display = ("__str__", "kind", "published_by", "created")
    list_select_related = ("workflow", "published_by")
    list_filter = (WorkflowFilter, VersionKindFilter, AgeFilter)
    list_defer = ("source", "definition", "workflow__definition")
    ordering = ("-id",)
    search_ids = ("id", "workflow_id")
    search_texts = ("workflow__name", "workflow__slug")

    @display(description=lazy("published"))
    def created(self, row: WorkflowVersion) -> Any:
        """Return the time since the version was created."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the version's page: the definition as its author wrote it, and as it runs."""
        written, runs_as = obj.source, obj.definition
        if not may(request, obj, Permission.VIEW_PAYLOADS):
            written, runs_as = (without_values(one, "(hidden)") for one in (written, runs_as))
        if obj.kind == VersionKind.TEST:  # pinned results may contain secrets
            written = masked(written)
        source = definition_yaml(written)
        runs = links.listing("executions_workflowexecution", workflow=obj.workflow_id)
        return Page(
            [str(obj)],
            facts(
                [
                    (
                        gettext("Workflow"),
                        links.to("executions_workflow", obj.workflow_id, obj.workflow),
                    ),
                    (gettext("Number"), str(obj.number)),
                    (gettext("Kind"), obj.get_kind_display()),
                    (gettext("Published"), marks.ago(obj.created_at)),
                    (gettext("Published by"), str(obj.published_by or "")),
                    (
                        gettext("Executions"),
                        links.link(runs, gettext("list the workflow's executions")),
                    ),
                    (gettext("Checksum"), marks.copyable(obj.checksum)),
                    (gettext("ID"), marks.copyable(obj.pk)),
                ]
            ),
            [
                text_section(gettext("Definition as written"), source),
                json_section(gettext("Definition as it runs"), runs_as),
            ],
        )
