"""Endpoints that list, return and take checkpoints of an execution."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.access import Action, obtain
from executions.public.api import (
    Body,
    CamelCase,
    Endpoint,
    PageQuery,
    Payload,
    Text,
    operation,
    page,
)
from executions.public.errors import NotFound
from executions.public.models import WorkflowExecution
from valkyr_plugins.timetravel.checkpoints import take_by_hand
from valkyr_plugins.timetravel.models import Checkpoint, CheckpointKind

# Checkpoints as JSON.


class CheckpointSummary(CamelCase, serializers.ModelSerializer[Checkpoint]):
    """A checkpoint in a list."""

    execution_id = serializers.UUIDField()
    kind = serializers.ChoiceField(CheckpointKind.choices)
    step_path = serializers.CharField(
        allow_blank=True, help_text=("The step after which it was taken.")
    )
    created_at = serializers.DateTimeField()
    createdBy = serializers.SerializerMethodField()  # noqa: N815 - the JSON's name
    current = serializers.SerializerMethodField()

    class Meta:
        model = Checkpoint
        fields = [
            "id", "execution_id", "sequence", "kind", "name", "step_path", "epoch", "current",
            "created_at", "createdBy",
        ]  # fmt: skip

    def get_createdBy(self, checkpoint: Checkpoint) -> str | None:  # noqa: N802 - the JSON's name
        """Return the creator's user name; null for the engine or a deleted account."""
        return checkpoint.created_by.get_username() if checkpoint.created_by else None

    def get_current(self, checkpoint: Checkpoint) -> bool:
        """Return whether the checkpoint belongs to the execution's current epoch."""
        return bool(checkpoint.epoch == self.context["epoch"])


class CheckpointShape(CheckpointSummary):
    """A checkpoint in full."""

    variables = Payload()

    class Meta(CheckpointSummary.Meta):
        fields = [*CheckpointSummary.Meta.fields, "variables"]


class CheckpointQuery(PageQuery):
    """The parameters of the list of checkpoints."""


class NewCheckpoint(Body):
    """The body for taking a checkpoint."""

    name = Text(required=False, default="", allow_blank=True, max_length=200)


IDENTITY = ("id", "workspace_id", "workflow_id", "epoch")


class Checkpoints(Endpoint):
    """The endpoint that lists an execution's checkpoints, and takes one."""

    @operation(
        "listCheckpoints",
        "WorkflowExecution",
        {200: CheckpointSummary(many=True)},
        errors=[403, 404],
        parameters=[CheckpointQuery],
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """List the checkpoints of an execution, newest first, without their variables."""
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
        """Save the current variables as a checkpoint; users can take at most 100 per execution."""
        rows = WorkflowExecution.objects.only(*IDENTITY)
        _, may = obtain(self.user, rows, id, Action.OPERATE)
        taken = take_by_hand(id, name=self.body(NewCheckpoint)["name"], actor=self.actor)
        context = {"epoch": taken.epoch, "may": may}
        return Response(CheckpointShape(taken, context=context).data, 201)


class OneCheckpoint(Endpoint):
    """The endpoint that returns one checkpoint."""

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
        """Return one checkpoint with its variables."""
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
