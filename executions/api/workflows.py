"""Workflows: list, create, read, change, put away."""

from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible, workspace_for
from executions.api import etags
from executions.api.documentation import header, operation
from executions.api.endpoint import Endpoint
from executions.api.paging import narrowed, page
from executions.api.workflow_shapes import (
    NewWorkflow,
    WorkflowChange,
    WorkflowQuery,
    WorkflowReplacement,
    WorkflowShape,
    WorkflowSummary,
)
from executions.models import Workflow
from executions.publishing import versioning
from executions.publishing.operations import ARCHIVE

FILTERS = {
    "slug": "slug",
    "name": "name__istartswith",
    "enabled": "enabled",
    "createdAfter": "created_at__gt",
    "createdBefore": "created_at__lt",
}
IF_MATCH = header("If-Match", "The ETag of the draft you changed; 412 when it is another by now.")


def workflows() -> QuerySet[Workflow]:
    """The workflows that are not put away, with their latest version's number."""
    return Workflow.objects.filter(archived_at=None).annotate(
        latest_number=F("latest_version__number")
    )


def shown(workflow: Workflow, status: int = 200) -> Response:
    """A workflow with its ETag."""
    headers = {"ETag": etags.of(workflow)}
    if status == 201:
        headers["Location"] = f"/v1/Workflow/{workflow.pk}"
    return Response(WorkflowShape(workflow).data, status, headers=headers)


class Workflows(Endpoint):
    """All workflows."""

    @operation(
        "listWorkflows", "Workflow", {200: WorkflowSummary(many=True)}, parameters=[WorkflowQuery]
    )
    def get(self, request: Request) -> Response:
        """The workflows of your workspaces, newest first, without their drafts."""
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
        """A new workflow; its draft may have mistakes."""
        given = self.body(NewWorkflow)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Action.AUTHOR)
        return shown(versioning.create_workflow(workspace, actor=self.actor, **given), 201)


class OneWorkflow(Endpoint):
    """One workflow."""

    @operation("getWorkflow", "Workflow", {200: WorkflowShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One workflow with its draft; the ETag counts the draft's changes."""
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
        """Replace the draft and its name."""
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
        """Change some fields."""
        return self._change(id, WorkflowChange)

    @operation(
        "deleteWorkflow",
        "Workflow",
        {204: None},
        errors=[403, 404, 412],
        parameters=[IF_MATCH],
    )
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Put a workflow away: nothing triggers it any more; its executions stay."""
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
