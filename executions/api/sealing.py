"""Read a workspace's payload sealing, turn it on and off, and rotate the payload key."""

from typing import Any
from uuid import UUID

# ruff: noqa: N815 - the names are the JSON's
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, require
from executions.accounts.caller_permissions import require_root
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCaseSerializer, Flag, Text
from executions.api.workspaces import found
from executions.payload_sealing import switch
from executions.sealing import payload_keys


class SealingShape(CamelCaseSerializer):
    """The sealing of a workspace's new payloads: whether it is on, and which key seals them."""

    enabled = serializers.BooleanField(help_text="Whether new payloads are sealed.")
    key = serializers.IntegerField(
        allow_null=True, help_text="The number of the key that seals them; null if none does."
    )
    keyCreatedAt = serializers.DateTimeField(allow_null=True)
    oldKeys = serializers.IntegerField(
        help_text="The number of older keys, which open payloads that are not resealed yet."
    )


class SealingChange(Body):
    """The body of `patchSealing`."""

    enabled = Flag(required=False, help_text="False stores new payloads in the clear.")
    rotate = Flag(required=False, help_text="True seals new payloads with a new key.")
    reason = Text(max_length=1_000, required=False, help_text="For the audit trail.")


class WorkspaceSealing(Endpoint):
    """The endpoint that returns and changes the sealing of one workspace's payloads."""

    sensitive = CHANGES

    @operation("getSealing", "Workspace", {200: SealingShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Return whether the workspace seals new payloads, and which key seals them."""
        found(self.user, id)
        require(self.user, id, Action.ADMINISTER)
        return Response(_shown(id))

    @operation(
        "patchSealing",
        "Workspace",
        {200: SealingShape},
        request=SealingChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Seal new payloads, stop sealing them, or use a new key; for superusers.

        Stored payloads do not change until `manage.py payload_keys reseal` runs.
        """
        found(self.user, id)
        require_root(self.user, "change how a workspace seals its payloads")
        given = self.body(SealingChange)
        enabled, rotate = given.get("enabled"), given.get("rotate", False)
        if (enabled is not None) is rotate:
            raise ValidationError("Set either `enabled` or `rotate`: true.", code="required")
        said: Any = {"actor": self.actor, "reason": given.get("reason", "")}
        if rotate:
            switch.rotate(id, **said)
        elif enabled:
            switch.turn_on(id, **said)
        else:
            switch.turn_off(id, **said)
        return Response(_shown(id))


def _shown(workspace_id: UUID) -> Any:
    state = payload_keys.state(workspace_id)
    return SealingShape(
        {
            "enabled": state.current is not None,
            "key": state.current and state.current.pk,
            "keyCreatedAt": state.current and state.current.created_at,
            "oldKeys": state.old,
        }
    ).data
