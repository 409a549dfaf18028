"""Checkpoints of an execution: list, read, take by hand."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.history_shapes import (
    CheckpointQuery,
    CheckpointShape,
    CheckpointSummary,
    NewCheckpoint,
)
from executions.api.paging import page
from executions.errors import NotFound
from executions.history.checkpoints import take_by_hand
from executions.models import Checkpoint, WorkflowExecution

IDENTITY = ("id", "workspace_id", "workflow_id", "epoch")


class Checkpoints(Endpoint):
    """The checkpoints of one execution."""

    @operation(
        "listCheckpoints",
        "WorkflowExecution",
        {200: CheckpointSummary(many=True)},
        errors=[403, 404],
        parameters=[CheckpointQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """The checkpoints of an execution, newest first, without their variables."""
        execution, _ = obtain(self.user, WorkflowExecution.objects.only(*IDENTITY), id, Action.VIEW)
        rows = (
            Checkpoint.objects.filter(execution_id=id)
            .select_related("created_by")
            .defer("variables")
        )
        found = page(request, rows, self.query(CheckpointQuery))
        shape = CheckpointSummary(found.rows, many=True, context={"epoch": execution.epoch})
        return Response(shape.data, headers=found.headers)

    @operation(
        "createCheckpoint",
        "WorkflowExecution",
        {201: CheckpointShape},
        request=NewCheckpoint,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Keep the variables as they are now, under a name; at most 100 an execution."""
        rows = WorkflowExecution.objects.only(*IDENTITY)
        _, may = obtain(self.user, rows, id, Action.OPERATE)
        taken = take_by_hand(id, name=self.body(NewCheckpoint)["name"], actor=self.actor)
        context = {"epoch": taken.epoch, "may": may}
        return Response(CheckpointShape(taken, context=context).data, 201)


class OneCheckpoint(Endpoint):
    """One checkpoint."""

    @operation(
        "getCheckpoint",
        "WorkflowExecution",
        {200: CheckpointShape},
        errors=[403, 404],
    )
    def get(
        self,
        request: Request,
        id: UUID,  # noqa: A002
        checkpointId: UUID,  # noqa: N803 - the path's name
    ) -> Response:
        """One checkpoint, with its variables."""
        execution, may = obtain(
            self.user, WorkflowExecution.objects.only(*IDENTITY), id, Action.VIEW
        )
        found = (
            Checkpoint.objects.select_related("created_by")
            .filter(execution_id=id, pk=checkpointId)
            .first()
        )
        if found is None:
            raise NotFound(f"Execution {id} has no checkpoint {checkpointId}.")
        return Response(CheckpointShape(found, context={"epoch": execution.epoch, "may": may}).data)
