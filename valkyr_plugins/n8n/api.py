"""The endpoint that imports workflows from n8n."""

from typing import Any

from drf_spectacular.types import OpenApiTypes

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Action, workspace_for
from executions.public.api import (
    CamelCaseSerializer,
    Endpoint,
    ImportQuery,
    Json,
    JsonText,
    ValidationItem,
    WorkflowShape,
    kept,
    operation,
)
from executions.public.definitions import DefinitionError, DefinitionProblem, catalog
from executions.public.publishing import versioning
from valkyr_plugins.n8n.conversion import Conversion, convert
from valkyr_plugins.n8n.export import read_text
from valkyr_plugins.n8n.report import STATUSES

# The requests and responses of imports from n8n.


class N8nQuery(ImportQuery):
    """The parameters of the import: the workflow's destination, and whether it is a dry run."""

    dryRun = serializers.BooleanField(
        required=False,
        default=False,
        help_text=("Return the result of the import without storing anything."),
    )


class N8nBecame(CamelCaseSerializer):
    """The task or trigger that a node became."""

    task = serializers.CharField(
        allow_null=True, help_text="The id of the task, in any body; null for none."
    )
    module = serializers.CharField(help_text="Its module, or the trigger's type, or note.")


class N8nRow(CamelCaseSerializer):
    """A node of the export, with its result."""

    node = serializers.CharField(help_text="Its name.")
    nodeType = serializers.CharField()
    became = N8nBecame(allow_null=True)
    status = serializers.ChoiceField(
        [(name, name) for name in STATUSES],
        help_text=(
            "mapped: equivalent. changed: similar, or incomplete. left: kept in a placeholder, or "
            "not at all."
        ),
    )
    remarks = serializers.ListField(child=serializers.CharField())


class N8nCounts(CamelCaseSerializer):
    """The number of nodes with each status."""

    mapped = serializers.IntegerField()
    changed = serializers.IntegerField()
    left = serializers.IntegerField()


class N8nCredential(CamelCaseSerializer):
    """A credential that a user must create, and the nodes that use it."""

    name = serializers.CharField()
    type = serializers.CharField()
    was = serializers.CharField(help_text="Its type and name in n8n; values are never imported.")
    nodes = serializers.ListField(child=serializers.CharField())


class N8nVariable(CamelCaseSerializer):
    """A variable that needs a value, and the nodes that read it."""

    name = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())


class N8nWorkflow(CamelCaseSerializer):
    """Another workflow that the imported workflow calls, and the nodes that call it."""

    slug = serializers.CharField()
    was = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())


class N8nToCreate(CamelCaseSerializer):
    """The objects that a user must create before the workflow can run."""

    credentials = N8nCredential(many=True)
    variables = N8nVariable(many=True)
    workflows = N8nWorkflow(many=True)


class N8nReport(CamelCaseSerializer):
    """The result for each node, in the file's order, and the objects to create."""

    rows = N8nRow(many=True)
    counts = N8nCounts()
    toCreate = N8nToCreate()
    remarks = serializers.ListField(child=serializers.CharField())


class N8nImported(CamelCaseSerializer):
    """The workflow and the report; with `dryRun`, the definition instead of the workflow."""

    workflow = WorkflowShape(allow_null=True)
    definition = Json(allow_null=True, help_text="Only with dryRun.")
    report = N8nReport()
    problems = ValidationItem(
        many=True,
        help_text="Problems that prevent publishing, usually nodes without an equivalent.",
    )


class ImportN8n(Endpoint):
    """The endpoint that imports an n8n export as a workflow."""

    parser_classes = [JsonText]

    @operation(
        "importN8nWorkflow",
        "Workflow",
        {200: N8nImported, 201: N8nImported},
        request={"application/json": OpenApiTypes.OBJECT},
        errors=[403, 404, 409],
        parameters=[N8nQuery],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Create (or update) a workflow from an n8n export, with a report on each node.

        The body is n8n's download or a copy from its canvas. A node without an equivalent becomes a
        placeholder, which blocks publishing; credentials and secrets are never imported.
        """
        query = self.query(N8nQuery)
        given: Any = request.data  # text, or {} if the request has no body
        workspace = workspace_for(self.user, query.get("workspaceId"), Action.AUTHOR)
        found = _converted(given if isinstance(given, str) else "")
        if query["dryRun"]:
            return Response(_answer(found) | {"definition": found.definition})
        name = found.definition["name"]
        workflow, status = kept(workspace, name, found.definition, query, self.actor)
        headers = {"Location": addresses.api("workflow", workflow.pk)} if status == 201 else {}
        return Response(_answer(found, workflow), status, headers=headers)


def _converted(text: str) -> Conversion:
    """Convert the only workflow in `text`. Raises DefinitionError unless there is exactly one."""
    exports = read_text(text)
    if len(exports) > 1:
        message = (
            f"the file contains {len(exports)} workflows; send one at a time, or run "
            "`manage.py import_n8n` on the file"
        )
        raise DefinitionError([DefinitionProblem("", "several_workflows", message)])
    return convert(exports[0], catalog())


def _answer(found: Conversion, workflow: Any = None) -> dict[str, Any]:
    problems = versioning.check(found.definition)
    about = {"workflow": workflow, "definition": None, "report": found.report.told()}
    shown: dict[str, Any] = N8nImported(about | {"problems": problems}).data
    return shown
