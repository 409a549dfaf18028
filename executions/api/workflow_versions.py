"""From draft to version: validate, publish, look at what was published."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions import publishing
from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import PageQuery, page
from executions.api.workflow_shapes import (
    Draft,
    Publication,
    Published,
    ValidationResult,
    VersionShape,
    VersionSummary,
)
from executions.api.workflows import workflows
from executions.errors import NotFound
from executions.models import WorkflowVersion


class ValidateWorkflow(Endpoint):
    """Whether it would publish."""

    @operation(
        "validateWorkflow", "Workflow", {200: ValidationResult}, request=Draft, errors=[403, 404]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Every problem and warning of the draft, or of the definition in the body, at once."""
        workflow, _ = obtain(self.user, workflows(), id, Action.AUTHOR)
        definition = self.body(Draft).get("definition", workflow.definition)
        found = publishing.check(definition)
        told = {"valid": not found, "problems": found, "warnings": publishing.warnings(definition)}
        return Response(ValidationResult(told).data)


class PublishWorkflow(Endpoint):
    """Make a version."""

    @operation(
        "publishWorkflow",
        "Workflow",
        {201: Published},
        request=Publication,
        errors=[403, 404, 409],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """A new immutable version of the draft; 409 when nothing but `ui` changed."""
        obtain(self.user, workflows().defer("definition"), id, Action.AUTHOR)
        kind = self.body(Publication)["kind"]
        version = publishing.publish(id, actor=self.actor, kind=kind)
        location = f"/v1/Workflow/{id}/versions/{version.number}"
        told = {
            "version": version.number,
            "checksum": version.checksum,
            "warnings": publishing.warnings(version.source),
        }
        return Response(Published(told).data, 201, headers={"Location": location})


class Versions(Endpoint):
    """The versions of a workflow."""

    @operation(
        "listWorkflowVersions",
        "Workflow",
        {200: VersionSummary(many=True)},
        errors=[403, 404],
        parameters=[PageQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """The workflow's versions, newest first, without their definitions."""
        obtain(self.user, workflows().defer("definition"), id, Action.VIEW)
        rows = WorkflowVersion.objects.filter(workflow_id=id).defer("source", "definition")
        found = page(request, rows, self.query(PageQuery))
        return Response(VersionSummary(found.rows, many=True).data, headers=found.headers)


class OneVersion(Endpoint):
    """One version."""

    @operation("getWorkflowVersion", "Workflow", {200: VersionShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID, n: int) -> Response:  # noqa: A002
        """One version: as its author wrote it, and as it runs."""
        obtain(self.user, workflows().defer("definition"), id, Action.VIEW)
        version = WorkflowVersion.objects.filter(workflow_id=id, number=min(n, 2**31 - 1)).first()
        if version is None:
            raise NotFound(f"Workflow {id} has no version {n}.")
        return Response(VersionShape(version).data)
