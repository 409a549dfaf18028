"""Revealing a dead letter's inputs and config to who may, for a reason that is kept."""
# ruff: noqa: N815 - the names are the JSON's

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from dlq.models import DeadLetterEntry
from dlq.revealing import FIELDS
from executions.api.camel_case import CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.fields import Json
from executions.api.reveal import Reveal, RevealReason


class RevealedDeadLetter(CamelCaseSerializer):
    """A dead letter's payloads as they are stored."""

    id = serializers.UUIDField()
    originalInputs = Json(allow_null=True)
    originalConfig = Json(allow_null=True)


class RevealEntry(Reveal):
    """Of a dead letter."""

    @operation(
        "revealDeadLetterEntry",
        "DeadLetterQueue",
        {200: RevealedDeadLetter},
        request=RevealReason,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Original inputs and config unmasked, for who has the permission `reveal`.

        Each use is recorded with its reason.
        """
        rows = DeadLetterEntry.objects.only("id", "workspace_id", "workflow_id")
        return self.revealed(rows, id, FIELDS, RevealedDeadLetter)
