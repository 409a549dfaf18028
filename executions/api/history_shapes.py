"""Checkpoints as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from rest_framework import serializers

from executions.api.camel_case import CamelCase
from executions.api.fields import Body, Payload, Text
from executions.api.paging import PageQuery
from executions.models import Checkpoint
from executions.states import CheckpointKind


class CheckpointSummary(CamelCase, serializers.ModelSerializer[Checkpoint]):
    """A checkpoint in a list."""

    execution_id = serializers.UUIDField()
    kind = serializers.ChoiceField(CheckpointKind.choices)
    step_path = serializers.CharField(allow_blank=True, help_text="The step it was taken after.")
    created_at = serializers.DateTimeField()
    createdBy = serializers.SerializerMethodField()
    current = serializers.SerializerMethodField()

    class Meta:
        model = Checkpoint
        fields = [
            "id", "execution_id", "sequence", "kind", "name", "step_path", "epoch", "current",
            "created_at", "createdBy",
        ]  # fmt: skip

    def get_createdBy(self, checkpoint: Checkpoint) -> str | None:  # noqa: N802 - the JSON's name
        """The name of who took it; null for the engine."""
        return checkpoint.created_by.get_username() if checkpoint.created_by else None

    def get_current(self, checkpoint: Checkpoint) -> bool:
        """False when the execution was rolled back past it: nobody can go back to it."""
        return bool(checkpoint.epoch == self.context["epoch"])


class CheckpointShape(CheckpointSummary):
    """A checkpoint in full."""

    variables = Payload()

    class Meta(CheckpointSummary.Meta):
        fields = [*CheckpointSummary.Meta.fields, "variables"]


class CheckpointQuery(PageQuery):
    """The parameters of the list of checkpoints."""


class NewCheckpoint(Body):
    """What taking a checkpoint by hand takes."""

    name = Text(required=False, default="", allow_blank=True, max_length=200)
