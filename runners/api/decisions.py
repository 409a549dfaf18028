"""Deciding on an approval."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import powers_on
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.fields import Body, Text
from runners.api.run_shapes import RunShape
from runners.waits.approvals import DECISIONS, decide


class DecisionBody(Body):
    """How the workflow goes on, and what the person says to it."""

    decision: Any = serializers.ChoiceField([(word, word) for word in DECISIONS])
    comment = Text(required=False, default="", allow_blank=True, max_length=2000)


class Decide(Endpoint):
    """Approve or reject."""

    @operation("decideRun", "Run", {200: RunShape}, request=DecisionBody, errors=[403, 404, 409])
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Decide on an approval; of two decisions the first counts, the other is a 409."""
        given = self.body(DecisionBody)
        run = decide(id, given["decision"], given["comment"], user=self.user, actor=self.actor)
        may = powers_on(self.user, run.execution.workspace_id, run.execution.workflow_id)
        return Response(RunShape(run, context={"may": may}).data)
