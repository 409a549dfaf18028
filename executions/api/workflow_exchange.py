"""Export and import definitions as files: YAML for people, JSON for programs."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, workspace_for
from executions.access.actor import Actor
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body
from executions.api.parsing import JsonText, OldYamlText, YamlText, check_storable
from executions.api.pinned import JsonRenderer
from executions.api.workflows import WorkflowShape, name_in, shown, workflows
from executions.definition.graph.document import load_text
from executions.definition.graph.yaml_document import definition_yaml
from executions.models import Workflow, Workspace
from executions.publishing import versioning


class YamlRenderer(BaseRenderer):
    """Renders a definition as YAML, with keys in the schema's order."""

    media_type = "application/yaml"
    format = "yaml"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Any = None,
    ) -> str:
        """Return the definition `data` as YAML text."""
        return definition_yaml(data)


CONFLICTS = [("fail", "409"), ("update", "replace the draft")]


class ImportQuery(Body):
    """The destination of an imported workflow."""

    workspaceId = serializers.UUIDField(required=False)
    slug = serializers.SlugField(
        required=False, max_length=80, help_text="Default: derived from the definition's name."
    )
    onConflict = serializers.ChoiceField(
        CONFLICTS,
        required=False,
        default="fail",
        help_text=(
            "What to do if a workflow already has the slug: fail with a 409, or replace its draft."
        ),
    )


class ExportWorkflow(Endpoint):
    """The endpoint that exports the draft as a file."""

    renderer_classes = [YamlRenderer, JsonRenderer]

    @operation(
        "exportWorkflow",
        "Workflow",
        {
            (200, "application/yaml"): OpenApiTypes.OBJECT,
            (200, "application/json"): OpenApiTypes.OBJECT,
        },
        errors=[403, 404],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return the draft as YAML or JSON, according to `Accept`; `importWorkflow` reads both."""
        workflow, _ = obtain(self.user, workflows(), id, Action.VIEW)
        document = {"schema": "valkyr/1", "name": workflow.name, **workflow.definition}
        suffix = request.accepted_renderer.format
        name = f'attachment; filename="{workflow.slug}.{suffix}"'
        return Response(document, headers={"Content-Disposition": name})


class ImportWorkflow(Endpoint):
    """The endpoint that creates a workflow, or changes a workflow's draft, from a file."""

    parser_classes = [YamlText, OldYamlText, JsonText]

    @operation(
        "importWorkflow",
        "Workflow",
        {200: WorkflowShape, 201: WorkflowShape},
        request={"application/yaml": OpenApiTypes.OBJECT, "application/json": OpenApiTypes.OBJECT},
        errors=[403, 404, 409],
        parameters=[ImportQuery],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create a workflow from a definition, with the definition's name.

        With `onConflict=update`, if a workflow of the workspace has the slug, its name, description
        and draft are replaced instead, and the response is a 200. The draft is not published.
        """
        query = self.query(ImportQuery)
        given: Any = request.data  # text; {} if the request has no body
        text = given if isinstance(given, str) else ""
        document = load_text(text, content_type=request.content_type.split(";")[0])
        check_storable(document)
        name = name_in(document)
        if not name:
            raise serializers.ValidationError(
                {"name": "The definition needs a name."}, code="required"
            )
        workspace = workspace_for(self.user, query.get("workspaceId"), Action.AUTHOR)
        return shown(*kept(workspace, name, document, query, self.actor))


def kept(
    workspace: Workspace,
    name: str,
    document: dict[str, Any],
    query: Mapping[str, Any],
    actor: Actor,
) -> tuple[Workflow, int]:
    """Create a workflow; with `onConflict=update`, change the workflow that has the slug, if any.

    Returns the workflow and the HTTP status.
    """
    description = document.get("description")
    fields: dict[str, Any] = {
        "name": name,
        "definition": document,
        "description": description if isinstance(description, str) else "",
    }
    slug = query.get("slug") or versioning.slug_of(name)
    known = workflows().filter(workspace=workspace, slug=slug).only("id").first()
    if known is not None and query["onConflict"] == "update":
        changed = versioning.update_workflow(known.pk, fields, actor=actor, expected_revision=None)
        return changed, 200
    return versioning.create_workflow(workspace, slug=slug, actor=actor, **fields), 201
