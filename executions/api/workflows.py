"""Workflows: list, create, read, change, archive and copy them."""

from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

# ruff: noqa: N815 - the names are the JSON's
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, Powers, obtain, visible, workspace_for
from executions.api import etags
from executions.api.documentation import header, operation
from executions.api.endpoint import Endpoint
from executions.api.fields import (
    HIDDEN,
    Body,
    CamelCase,
    CamelCaseSerializer,
    Flag,
    Json,
    JsonObject,
    Text,
    Whole,
)
from executions.api.paging import ListQuery, PageQuery, narrowed, page
from executions.bundles.managed import git_state
from executions.definition.graph.trial import without_values
from executions.models import Workflow, WorkflowVersion
from executions.publishing import versioning
from executions.publishing.operations import ARCHIVE, TAKE_OVER
from executions.states import Permission, VersionKind


class WorkflowSummary(CamelCase, serializers.ModelSerializer[Workflow]):
    """A workflow in a list, without the draft."""

    workspace_id = serializers.UUIDField()
    latestVersion = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    class Meta:
        model = Workflow
        fields = [
            "id", "workspace_id", "name", "slug", "description", "origin", "origin_line",
            "enabled", "latestVersion", "created_at", "updated_at",
        ]  # fmt: skip

    def get_latestVersion(self, workflow: Workflow) -> int | None:  # noqa: N802 - the JSON's name
        """Return the number of the latest published version; None if there is none."""
        if hasattr(workflow, "latest_number"):
            number: int | None = workflow.latest_number
            return number
        if workflow.latest_version_id is None:
            return None
        rows = WorkflowVersion.objects.filter(pk=workflow.latest_version_id)
        return rows.values_list("number", flat=True).first()


class GitStateShape(CamelCaseSerializer):
    """A workflow's source in Git, and whether only Git publishes the workflow."""

    locked = serializers.BooleanField(
        help_text="Whether only `applyBundle` publishes and archives the workflow."
    )
    managed = serializers.BooleanField(
        help_text="Whether a bundle brought it; otherwise the fields below are empty."
    )
    repository = serializers.CharField(allow_blank=True)
    commit = serializers.CharField(allow_blank=True)
    ref = serializers.CharField(allow_blank=True, help_text="The branch or tag.")
    applied_by = serializers.CharField(allow_blank=True)
    applied_at = serializers.DateTimeField(allow_null=True)


class WorkflowShape(WorkflowSummary):
    """A workflow with its draft."""

    definition = Json(help_text="The draft, as written by its author.")
    git = serializers.SerializerMethodField()

    class Meta(WorkflowSummary.Meta):
        fields = [*WorkflowSummary.Meta.fields, "git", "definition"]

    @extend_schema_field(GitStateShape)
    def get_git(self, workflow: Workflow) -> Any:
        """Return the workflow's source in Git, and whether only Git publishes the workflow."""
        return GitStateShape(git_state(workflow)).data


class WorkflowQuery(ListQuery):
    """The query parameters of `listWorkflows`: filters, order and page."""

    slug = serializers.CharField(required=False, max_length=80)
    name = serializers.CharField(
        required=False,
        max_length=200,
        trim_whitespace=False,
        help_text="The beginning of the name, in any case.",
    )
    enabled = serializers.BooleanField(required=False)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class WorkflowChange(Body):
    """The body of `patchWorkflow`: the fields to change."""

    name = Text(max_length=200, required=False)
    slug = serializers.SlugField(max_length=80, required=False)
    description = Text(allow_blank=True, max_length=10_000, required=False)
    enabled = Flag(required=False)
    definition = JsonObject(required=False)


class WorkflowReplacement(WorkflowChange):
    """The body of `updateWorkflow`: a whole workflow; only `name` and `definition` are required."""

    name = Text(max_length=200)
    description = Text(allow_blank=True, max_length=10_000, required=False, default="")
    enabled = Flag(required=False, default=True)
    definition = JsonObject()


class NewWorkflow(WorkflowChange):
    """The body of `createWorkflow`; the name may come from the definition."""

    workspaceId = serializers.UUIDField(
        required=False, help_text="Optional if you have only one workspace."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Return the values; the default of `name` is the name in the definition.

        Raises ValidationError if neither name is given.
        """
        attrs.setdefault("definition", {})
        attrs.setdefault("name", name_in(attrs["definition"]))
        if not attrs["name"]:
            raise serializers.ValidationError(
                {"name": "Give a name here or in the definition."}, code="required"
            )
        return attrs


def name_in(definition: dict[str, Any]) -> str:
    """Return the name in the definition, at most 200 characters; "" if there is none."""
    name = definition.get("name")
    return name.strip()[:200] if isinstance(name, str) else ""


class Draft(Body):
    """The body of `validateWorkflow`: a definition to check instead of the stored draft."""

    definition = JsonObject(required=False)


class NewDraft(Body):
    """The body of `validateDefinition`: a definition that is not stored, and its workspace."""

    definition = JsonObject()
    workspaceId = serializers.UUIDField(
        required=False, help_text="Optional if you have only one workspace."
    )


class TakingOver(Body):
    """The body of `takeOverWorkflow`: the name and slug of the copy, both optional."""

    name = Text(max_length=200, required=False)
    slug = serializers.SlugField(max_length=80, required=False)


class ValidationItem(CamelCaseSerializer):
    """One problem or warning in a definition."""

    path = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    message = serializers.CharField()


class ValidationResult(CamelCaseSerializer):
    """Whether a definition can be published, its problems, its warnings and its checksum."""

    valid = serializers.BooleanField()
    problems = ValidationItem(many=True)
    warnings = ValidationItem(
        many=True, help_text="Probable mistakes, which do not prevent publishing."
    )
    checksum = serializers.CharField(
        allow_null=True,
        help_text=(
            "The checksum of a version published now; null if there are problems. If it equals "
            "that of the latest version, there is nothing to publish."
        ),
    )


class Publication(Body):
    """The body of `publishWorkflow`: the version's kind, and an earlier version to publish."""

    kind = serializers.ChoiceField(VersionKind.choices, required=False, default="published")
    version = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=2**31 - 1,
        help_text="An earlier published version to publish again, in place of the draft.",
    )


class Published(CamelCaseSerializer):
    """The number, checksum and warnings of a new version."""

    version = serializers.IntegerField()
    checksum = serializers.CharField()
    warnings = ValidationItem(
        many=True, help_text="Probable mistakes: templates that read values that no output has."
    )


class VersionQuery(PageQuery):
    """The query parameters of `listWorkflowVersions`: the kind of version, and the page."""

    kind = serializers.ChoiceField(VersionKind.choices, required=False)


class VersionSummary(CamelCase, serializers.ModelSerializer[WorkflowVersion]):
    """A version in a list, without its definition."""

    workflow_id = serializers.UUIDField()
    version = serializers.IntegerField(source="number")
    kind = serializers.ChoiceField(
        VersionKind.choices,
        help_text="A test version belongs to one test run; it is deleted after "
        "`TEST_VERSION_HOURS` (a day).",
    )
    created_at = serializers.DateTimeField()
    publishedBy = serializers.CharField(
        source="publisher",
        allow_null=True,
        help_text="The user who created it; null if the user was deleted.",
    )

    class Meta:
        model = WorkflowVersion
        fields = ["id", "workflow_id", "version", "kind", "checksum", "created_at", "publishedBy"]


class Written(Json):
    """A definition, whose pinned results require permission to view payloads."""

    def to_representation(self, value: Any) -> Any:
        """Return the definition; pinned results that the caller may not see become `HIDDEN`."""
        may: Powers | None = self.context.get("may")
        if may is not None and may.allows(Permission.VIEW_PAYLOADS):
            return value
        return without_values(value, dict(HIDDEN))


class VersionShape(VersionSummary):
    """A version: as its author wrote it, and as it runs."""

    source: Any = Written()
    definition = Written()

    class Meta(VersionSummary.Meta):
        fields = [*VersionSummary.Meta.fields, "source", "definition"]


FILTERS = {
    "slug": "slug",
    "name": "name__istartswith",
    "enabled": "enabled",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}
IF_MATCH = header(
    "If-Match", ("The ETag of the draft that you changed; 412 if it is no longer current.")
)


def workflows() -> QuerySet[Workflow]:
    """Return the workflows that are not archived, each with its latest version's number."""
    return Workflow.objects.filter(archived_at=None).annotate(
        latest_number=F("latest_version__number")
    )


def shown(workflow: Workflow, status: int = 200) -> Response:
    """Return the response for a workflow, with its ETag."""
    headers = {"ETag": etags.of(workflow)}
    if status == 201:
        headers["Location"] = addresses.api("workflow", workflow.pk)
    return Response(WorkflowShape(workflow).data, status, headers=headers)


class Workflows(Endpoint):
    """The endpoint that lists and creates workflows."""

    @operation(
        "listWorkflows", "Workflow", {200: WorkflowSummary(many=True)}, parameters=[WorkflowQuery]
    )
    def get(self, request: Request) -> Response:
        """List the workflows of your workspaces, newest first, without their drafts."""
        query = self.query(WorkflowQuery)
        rows = narrowed(visible(self.user, workflows()), query, FILTERS).defer("definition")
        found = page(request, rows, query)
        return Response(WorkflowSummary(found.rows, many=True).data, headers=found.headers)

    @operation(
        "createWorkflow",
        "Workflow",
        {201: WorkflowShape},
        request=NewWorkflow,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a workflow; its draft may have problems."""
        given = self.body(NewWorkflow)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Action.AUTHOR)
        return shown(versioning.create_workflow(workspace, actor=self.actor, **given), 201)


class OneWorkflow(Endpoint):
    """The endpoint that returns, changes and archives one workflow."""

    @operation("getWorkflow", "Workflow", {200: WorkflowShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return one workflow with its draft; the ETag is the draft's revision."""
        workflow, _ = obtain(self.user, workflows(), id, Action.VIEW)
        return shown(workflow)

    @operation(
        "updateWorkflow",
        "Workflow",
        {200: WorkflowShape},
        request=WorkflowReplacement,
        errors=[403, 404, 409, 412],
        parameters=[IF_MATCH],
    )
    def put(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Replace a workflow's name and draft; omitted fields except `slug` get their defaults."""
        return self._change(id, WorkflowReplacement)

    @operation(
        "patchWorkflow",
        "Workflow",
        {200: WorkflowShape},
        request=WorkflowChange,
        errors=[403, 404, 409, 412],
        parameters=[IF_MATCH],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Change only those fields of a workflow that the body contains."""
        return self._change(id, WorkflowChange)

    @operation(
        "deleteWorkflow",
        "Workflow",
        {204: None},
        errors=[403, 404, 412],
        parameters=[IF_MATCH],
    )
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Archive a workflow: triggers no longer start it; its executions are kept."""
        workflow, _ = obtain(self.user, workflows(), id, ARCHIVE.needs)
        expected = etags.expected(request, workflow)
        ARCHIVE.apply(id, self.actor, {"expected_revision": expected})
        return Response(status=204)

    def _change(self, pk: UUID, form: type[WorkflowChange]) -> Response:
        workflow, _ = obtain(self.user, workflows(), pk, Action.AUTHOR)
        changes: dict[str, Any] = self.body(form)
        if not changes:
            raise ValidationError("Name at least one field to change.", code="required")
        expected = etags.expected(request=self.request, workflow=workflow)
        return shown(
            versioning.update_workflow(pk, changes, actor=self.actor, expected_revision=expected)
        )


class TakeOverWorkflow(Endpoint):
    """The endpoint that copies a workflow from code so that users can edit the copy."""

    @operation(
        "takeOverWorkflow",
        "Workflow",
        {201: WorkflowShape},
        request=TakingOver,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Copy a workflow that comes from code into an editable workflow.

        The copy is a draft in the same workspace; triggers do not start it until it is published.
        The original stays unchanged. The response is 409 for a workflow that does not come from
        code. Requires permission to write workflows in the workspace; permission on this workflow
        alone is not enough.
        """
        found, _ = obtain(self.user, workflows().defer("definition"), id, TAKE_OVER.needs)
        workspace_for(self.user, found.workspace_id, TAKE_OVER.needs)
        copy, _ = self.perform(TAKE_OVER, workflows().defer("definition"), id, TakingOver)
        return shown(copy, 201)
