"""Revealing a run's payloads to who may, for a reason that is kept."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.api.camel_case import CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.fields import Json
from executions.api.reveal import Reveal, RevealReason
from runners.models import Run

# What revealing a run shows: attributes by their names in the API.
FIELDS = {name: name for name in ("inputs", "outputs", "overrides", "wake", "logs")}


class RevealedRun(CamelCaseSerializer):
    """A run's payloads as they are stored."""

    id = serializers.UUIDField()
    inputs = Json(allow_null=True)
    outputs = Json(allow_null=True)
    overrides = Json(allow_null=True)
    wake = Json(allow_null=True)
    logs = Json(allow_null=True)


class RevealRun(Reveal):
    """Of a run."""

    @operation("revealRun", "Run", {200: RevealedRun}, request=RevealReason, errors=[403, 404])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Inputs, outputs, overrides, logs and what woke it, for who has the permission `reveal`.

        Each use is recorded with its reason.
        """
        rows = Run.objects.select_related("execution").only(
            "id", "execution", "execution__workspace_id", "execution__workflow_id"
        )
        return self.revealed(rows, id, FIELDS, RevealedRun)
