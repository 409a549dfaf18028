"""From draft to version: validate, publish, and read published versions."""

from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, obtain, workspace_for
from executions.access.people import name_path
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import narrowed, page
from executions.api.workflows import (
    Draft,
    NewDraft,
    Publication,
    Published,
    ValidationResult,
    VersionQuery,
    VersionShape,
    VersionSummary,
    workflows,
)
from executions.errors import NotFound
from executions.models import WorkflowVersion
from executions.publishing import versioning
from executions.publishing.operations import PUBLISH


class ValidateWorkflow(Endpoint):
    """The endpoint that validates a draft, or a definition in its place."""

    @operation(
        "validateWorkflow", "Workflow", {200: ValidationResult}, request=Draft, errors=[403, 404]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return at most 500 problems and 500 warnings of the draft, or of a given definition."""
        workflow, _ = obtain(self.user, workflows(), id, Action.AUTHOR)
        definition = self.body(Draft).get("definition", workflow.definition)
        return _verdict(definition, workflow.workspace_id, workflow.pk)


class ValidateDefinition(Endpoint):
    """The endpoint that validates a definition that is not stored."""

    @operation(
        "validateDefinition",
        "Workflow",
        {200: ValidationResult},
        request=NewDraft,
        errors=[403, 404],
    )
    def post(self, request: Request) -> Response:
        """Return at most 500 problems and 500 warnings of a definition.

        Requires permission to write workflows.
        """
        given = self.body(NewDraft)
        workspace = workspace_for(self.user, given.get("workspaceId"), Action.AUTHOR)
        return _verdict(given["definition"], workspace.pk, None)


def _verdict(definition: Any, workspace_id: UUID, workflow_id: UUID | None) -> Response:
    found = versioning.check(definition, workspace_id, workflow_id)
    warnings = versioning.warnings(definition)
    told = {
        "valid": not found,
        "problems": found,
        "warnings": warnings,
        "checksum": None if found else versioning.checksum_of(definition),
    }
    return Response(ValidationResult(told).data)


class PublishWorkflow(Endpoint):
    """The endpoint that publishes a version."""

    @operation(
        "publishWorkflow",
        "Workflow",
        {201: Published},
        request=Publication,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Publish the draft as a new version; 409 if nothing, or only `ui`, has changed.

        With `version`, publish an earlier version again. The draft stays as it is.
        """
        version, _ = self.perform(PUBLISH, workflows().defer("definition"), id, Publication)
        location = addresses.api("workflow-version", id, version.number)
        told = {
            "version": version.number,
            "checksum": version.checksum,
            "warnings": versioning.warnings(version.source),
        }
        return Response(Published(told).data, 201, headers={"Location": location})


class Versions(Endpoint):
    """The endpoint that lists the versions of a workflow."""

    @operation(
        "listWorkflowVersions",
        "Workflow",
        {200: VersionSummary(many=True)},
        errors=[403, 404],
        parameters=[VersionQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """List the workflow's versions, newest first, without their definitions."""
        obtain(self.user, workflows().defer("definition"), id, Action.VIEW)
        query = self.query(VersionQuery)
        rows = narrowed(versions(id).defer("source", "definition"), query, {"kind": "kind"})
        found = page(request, rows, query)
        return Response(VersionSummary(found.rows, many=True).data, headers=found.headers)


class OneVersion(Endpoint):
    """The endpoint that returns one version."""

    @operation("getWorkflowVersion", "Workflow", {200: VersionShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID, n: int) -> Response:  # noqa: A002
        """Return one version: the definition as its author wrote it, and as it runs.

        Without permission to view payloads, the pinned results of a test version are hidden.
        """
        _, may = obtain(self.user, workflows().defer("definition"), id, Action.VIEW)
        version = versions(id).filter(number=min(n, 2**31 - 1)).first()
        if version is None:
            raise NotFound(f"Workflow {id} has no version {n}.")
        return Response(VersionShape(version, context={"may": may}).data)


def versions(workflow_id: UUID) -> QuerySet[WorkflowVersion]:
    """Return the versions of a workflow, each with the name of the user who published it."""
    rows = WorkflowVersion.objects.filter(workflow_id=workflow_id)
    return rows.annotate(publisher=F(name_path("published_by")))
