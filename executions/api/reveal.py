"""Reveal an execution's payloads to authorized users, for a recorded reason."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import obtain
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Json, Text
from executions.audit.revealing import EXECUTION, reveal
from executions.models import WorkflowExecution
from executions.states import Permission


class RevealReason(Body):
    """The reason for revealing payloads; stored in the audit trail."""

    reason = Text(max_length=2000)


class RevealedExecution(CamelCaseSerializer):
    """An execution's payloads, unmasked."""

    id = serializers.UUIDField()
    triggerPayload = Json(allow_null=True)
    contextData = Json()
    output = Json(allow_null=True)


class Reveal(Endpoint):
    """The base of endpoints that reveal payloads, unmasked."""

    sensitive = CHANGES

    def revealed(
        self, rows: QuerySet[Any], pk: UUID, fields: Mapping[str, str], shape: Any
    ) -> Response:
        """Return the response with the stored values of `fields`; clients must not cache it.

        Raises NotFound, Forbidden and ValidationError.
        """
        row, _ = obtain(self.user, rows, pk, Permission.REVEAL)
        reason = self.body(RevealReason)["reason"]
        values = reveal(type(row), pk, fields, actor=self.actor, reason=reason)
        return Response(shape({"id": pk, **values}).data, headers={"Cache-Control": "no-store"})


class RevealExecution(Reveal):
    """The endpoint that reveals the payloads of an execution."""

    @operation(
        "revealWorkflowExecution",
        "WorkflowExecution",
        {200: RevealedExecution},
        request=RevealReason,
        errors=[403, 404],
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return the payload, variables and output unmasked; requires the permission `reveal`.

        Each use is recorded with its reason.
        """
        rows = WorkflowExecution.objects.only("id", "workspace_id", "workflow_id")
        return self.revealed(rows, id, EXECUTION, RevealedExecution)
