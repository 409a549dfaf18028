"""Object permissions on one workflow: list and set them."""

from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, grants, obtain
from executions.access.people import LONGEST_NAME
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Text
from executions.api.workflows import workflows

CHOICES = [(name, name) for name in grants.NAMES]


class GrantShape(CamelCaseSerializer):
    """The permissions of one user or one group on the workflow."""

    username = serializers.CharField(allow_null=True)
    group = serializers.CharField(allow_null=True)
    permissions: Any = serializers.ListField(child=serializers.ChoiceField(CHOICES))


class GrantChange(Body):
    """The body of `setWorkflowPermissions`: the new permissions of one user or one group."""

    username = Text(required=False, max_length=LONGEST_NAME)
    group = Text(required=False, max_length=150)
    permissions: Any = serializers.ListField(
        child=serializers.ChoiceField(CHOICES),
        allow_empty=True,
        max_length=len(CHOICES),
        help_text="The permissions to grant; an empty list revokes all.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that exactly one of `username` and `group` is given. Raises ValidationError."""
        if ("username" in attrs) == ("group" in attrs):
            raise serializers.ValidationError(
                {"username": "Give either username or group."}, code="one_principal"
            )
        return attrs


class WorkflowPermissions(Endpoint):
    """The endpoint that lists and sets object permissions on one workflow, in addition to roles."""

    sensitive = CHANGES

    @operation(
        "listWorkflowPermissions", "Workflow", {200: GrantShape(many=True)}, errors=[403, 404]
    )
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """List the object permissions on this workflow; permissions by role are not included."""
        workflow, _ = obtain(self.user, workflows().defer("definition"), id, Action.ADMINISTER)
        return Response(GrantShape(grants.grants_on(workflow), many=True).data)

    @operation(
        "setWorkflowPermissions",
        "Workflow",
        {200: GrantShape},
        request=GrantChange,
        errors=[403, 404],
    )
    def put(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Set the permissions of one member or group on this workflow and its executions."""
        workflow, _ = obtain(self.user, workflows().defer("definition"), id, Action.ADMINISTER)
        given = self.body(GrantChange)
        made = grants.give(
            workflow,
            given["permissions"],
            actor=self.actor,
            username=given.get("username"),
            group=given.get("group"),
            reason=given["reason"],
        )
        return Response(GrantShape(made).data)
