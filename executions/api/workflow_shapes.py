"""Workflows and versions as JSON: what comes in, what goes out."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.access import Powers
from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.fields import HIDDEN, Body, Flag, Json, JsonObject, Text
from executions.api.paging import ListQuery, PageQuery
from executions.definition.graph.trial import without_values
from executions.models import Workflow, WorkflowVersion
from executions.states import Permission, VersionKind


class WorkflowSummary(CamelCase, serializers.ModelSerializer[Workflow]):
    """A workflow in a list: everything but the draft."""

    workspace_id = serializers.UUIDField()
    latestVersion = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()

    class Meta:
        model = Workflow
        fields = [
            "id", "workspace_id", "name", "slug", "description", "enabled", "latestVersion",
            "created_at", "updated_at",
        ]  # fmt: skip

    def get_latestVersion(self, workflow: Workflow) -> int | None:  # noqa: N802 - the JSON's name
        """The number of the latest published version."""
        if hasattr(workflow, "latest_number"):
            number: int | None = workflow.latest_number
            return number
        if workflow.latest_version_id is None:
            return None
        rows = WorkflowVersion.objects.filter(pk=workflow.latest_version_id)
        return rows.values_list("number", flat=True).first()


class WorkflowShape(WorkflowSummary):
    """A workflow with its draft."""

    definition = Json(help_text="The draft, as its author wrote it.")

    class Meta(WorkflowSummary.Meta):
        fields = [*WorkflowSummary.Meta.fields, "definition"]


class WorkflowQuery(ListQuery):
    """The filters of the list of workflows."""

    slug = serializers.CharField(required=False, max_length=80)
    name = serializers.CharField(
        required=False,
        max_length=200,
        trim_whitespace=False,
        help_text="How names begin, in small or capital letters.",
    )
    enabled = serializers.BooleanField(required=False)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class WorkflowChange(Body):
    """The fields of a workflow that a PATCH may change."""

    name = Text(max_length=200, required=False)
    slug = serializers.SlugField(max_length=80, required=False)
    description = Text(allow_blank=True, max_length=10_000, required=False)
    enabled = Flag(required=False)
    definition = JsonObject(required=False)


class WorkflowReplacement(WorkflowChange):
    """A whole workflow, for PUT; what is left out goes back to its default."""

    name = Text(max_length=200)
    description = Text(allow_blank=True, max_length=10_000, required=False, default="")
    enabled = Flag(required=False, default=True)
    definition = JsonObject()


class NewWorkflow(WorkflowChange):
    """A workflow to be made; the name may come from the definition."""

    workspaceId = serializers.UUIDField(
        required=False, help_text="May be left out by who has one workspace only."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Take the name from the definition if none is given."""
        attrs.setdefault("definition", {})
        attrs.setdefault("name", name_in(attrs["definition"]))
        if not attrs["name"]:
            raise serializers.ValidationError(
                {"name": "Give a name here or in the definition."}, code="required"
            )
        return attrs


def name_in(definition: dict[str, Any]) -> str:
    """The definition's own name, if it is one."""
    name = definition.get("name")
    return name.strip()[:200] if isinstance(name, str) else ""


class Draft(Body):
    """A definition to look at instead of the stored draft."""

    definition = JsonObject(required=False)


class NewDraft(Body):
    """A definition that is stored nowhere yet."""

    definition = JsonObject()
    workspaceId = serializers.UUIDField(
        required=False, help_text="May be left out by who has one workspace only."
    )


class ValidationItem(CamelCaseSerializer):
    """One mistake in a definition."""

    path = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    message = serializers.CharField()


class ValidationResult(CamelCaseSerializer):
    """Whether a definition can be published, all that keeps it from being so, what looks wrong."""

    valid = serializers.BooleanField()
    problems = ValidationItem(many=True)
    warnings = ValidationItem(
        many=True, help_text="Probably mistakes, which keep nobody from publishing."
    )


class Publication(Body):
    """What kind of version to make."""

    kind = serializers.ChoiceField(VersionKind.choices, required=False, default="published")


class Published(CamelCaseSerializer):
    """A version just made."""

    version = serializers.IntegerField()
    checksum = serializers.CharField()
    warnings = ValidationItem(
        many=True, help_text="Probably mistakes: templates that read what no output has."
    )


class VersionQuery(PageQuery):
    """The filters of the list of a workflow's versions."""

    kind = serializers.ChoiceField(VersionKind.choices, required=False)


class VersionSummary(CamelCase, serializers.ModelSerializer[WorkflowVersion]):
    """A version in a list."""

    workflow_id = serializers.UUIDField()
    version = serializers.IntegerField(source="number")
    kind = serializers.ChoiceField(
        VersionKind.choices, help_text="A test version is of one test run, and goes after a day."
    )
    created_at = serializers.DateTimeField()
    publishedBy = serializers.CharField(
        source="publisher", allow_null=True, help_text="The user who made it, if there still is."
    )

    class Meta:
        model = WorkflowVersion
        fields = ["id", "workflow_id", "version", "kind", "checksum", "created_at", "publishedBy"]


class Written(Json):
    """A definition; what was pinned in it is shown to who may see payloads."""

    def to_representation(self, value: Any) -> Any:
        """The definition, or one with `HIDDEN` in place of what was pinned."""
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
