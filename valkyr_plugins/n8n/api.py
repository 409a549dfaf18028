"""Workflows of n8n become workflows of ours."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, workspace_for
from executions.public.api import Endpoint, JsonText, kept, operation
from executions.public.definitions import DefinitionError, DefinitionProblem, catalog
from executions.public.publishing import versioning
from valkyr_plugins.n8n.conversion import Conversion, convert
from valkyr_plugins.n8n.reading import read_text
from valkyr_plugins.n8n.shapes import N8nImported, N8nQuery


class ImportN8n(Endpoint):
    """An export of n8n becomes a workflow."""

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
        """A new workflow from an export of n8n, and a report of what became of each node.

        The body is what n8n downloads, or what its canvas copies. What has no equal stays as a
        placeholder, which blocks publishing; credentials and secrets are never taken over.
        """
        query = self.query(N8nQuery)
        given: Any = request.data  # text, or {} of a request without a body
        workspace = workspace_for(self.user, query.get("workspaceId"), Action.AUTHOR)
        found = _converted(given if isinstance(given, str) else "")
        if query["dryRun"]:
            return Response(_answer(found) | {"definition": found.definition})
        name = found.definition["name"]
        workflow, status = kept(workspace, name, found.definition, query, self.actor)
        headers = {"Location": f"/v1/Workflow/{workflow.pk}"} if status == 201 else {}
        return Response(_answer(found, workflow), status, headers=headers)


def _converted(text: str) -> Conversion:
    """The only workflow of a text; raises DefinitionError."""
    exports = read_text(text)
    if len(exports) > 1:
        message = (
            f"there are {len(exports)} workflows; send one at a time, or run "
            "`manage.py import_n8n` on the file"
        )
        raise DefinitionError([DefinitionProblem("", "several_workflows", message)])
    return convert(exports[0], catalog())


def _answer(found: Conversion, workflow: Any = None) -> dict[str, Any]:
    problems = versioning.check(found.definition)
    about = {"workflow": workflow, "definition": None, "report": found.report.told()}
    shown: dict[str, Any] = N8nImported(about | {"problems": problems}).data
    return shown
