"""Triggers: list, read, enable, disable and pause them; read or replace a webhook's secret."""

from typing import Any, NoReturn
from uuid import UUID

from django.db.models import QuerySet

# ruff: noqa: N815 - the names are the JSON's
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions import addresses
from executions.access import Action, obtain, visible
from executions.api.documentation import operation
from executions.api.endpoint import CHANGES, Endpoint
from executions.api.fields import Body, CamelCase, CamelCaseSerializer, Flag, Json, Whole
from executions.api.paging import ListQuery, narrowed, page
from executions.errors import WrongState
from executions.models import Trigger
from executions.states import TriggerType
from executions.triggers.operations import (
    PAUSE,
    RESUME,
    REVEAL_SECRET,
    ROTATE_SECRET,
    SWITCH_OFF,
    SWITCH_ON,
)
from executions.triggers.webhook import MAX_OVERLAP_SECONDS, OVERLAP_SECONDS


class TriggerShape(CamelCase, serializers.ModelSerializer[Trigger]):
    """A trigger, without its secret."""

    workspaceId = serializers.UUIDField(source="workflow.workspace_id")
    workflow_id = serializers.UUIDField()
    type = serializers.ChoiceField(TriggerType.choices)
    settings = Json(help_text="As in the definition, with all defaults filled in.")
    address = serializers.SerializerMethodField(
        help_text=("For a webhook: the address for requests.")
    )
    former_secret_until = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "For a webhook: the time until which the previous secret is accepted too; null if "
            "there was no previous secret."
        ),
    )
    paused_until = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "For a schedule: the time before which it starts nothing; null if it was never paused."
        ),
    )
    created_at = serializers.DateTimeField()
    retired_at = serializers.DateTimeField(
        allow_null=True,
        help_text=(
            "When the published version stopped containing the trigger; null while it contains it."
        ),
    )

    class Meta:
        model = Trigger
        fields = [
            "id", "workspaceId", "workflow_id", "type", "enabled", "settings", "address",
            "former_secret_until", "paused_until", "created_at", "retired_at",
        ]  # fmt: skip

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_address(self, trigger: Trigger) -> str | None:
        """Return a webhook's path relative to the server's URL; None for other triggers."""
        is_webhook = trigger.type == TriggerType.WEBHOOK
        return addresses.api("webhook", trigger.pk) if is_webhook else None


class TriggerChange(Body):
    """The body of `patchTrigger`."""

    enabled = Flag(required=False)
    pausedUntil = serializers.DateTimeField(
        source="until",
        required=False,
        allow_null=True,
        help_text="Pause the schedule until this time, at most 400 days ahead; null ends the "
        "pause.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that exactly one change is requested. Raises ValidationError."""
        if len(attrs) != 1:
            raise serializers.ValidationError("Send either `enabled` or `pausedUntil`.")
        return attrs


class SecretShape(CamelCaseSerializer):
    """A webhook's secret: the key of its signatures, or its bearer token."""

    secret = serializers.CharField()


class Rotation(Body):
    """The body of `rotateTriggerSecret`."""

    overlapSeconds = Whole(
        source="overlap",
        required=False,
        default=OVERLAP_SECONDS,
        min_value=0,
        max_value=MAX_OVERLAP_SECONDS,
        help_text=(
            "How long the current secret is accepted in addition to the new one; 0 rejects it at "
            "once, for example after a leak."
        ),
    )


class TriggerQuery(ListQuery):
    """The query parameters of `listTriggers`: filters, order and page."""

    workflowId = serializers.UUIDField(required=False)
    type = serializers.ChoiceField(TriggerType.choices, required=False)
    enabled = serializers.BooleanField(required=False)


FILTERS = {"workflowId": "workflow_id", "type": "type", "enabled": "enabled"}
FROM_DEFINITION = (
    "Triggers come from definitions. Edit `triggers:` of the workflow's definition and "
    "publish it; to stop a trigger for a while, PATCH it with enabled: false, or a schedule "
    "with pausedUntil."
)


def triggers() -> QuerySet[Trigger]:
    """Return all triggers, each with its workflow, without the workflow's draft."""
    return Trigger.objects.select_related("workflow").defer(
        "workflow__definition", "workflow__description"
    )


class Triggers(Endpoint):
    """The endpoint that lists triggers, and rejects their creation."""

    @operation("listTriggers", "Trigger", {200: TriggerShape(many=True)}, parameters=[TriggerQuery])
    def get(self, request: Request) -> Response:
        """List the triggers of your workspaces, newest first."""
        query = self.query(TriggerQuery)
        found = page(request, narrowed(visible(self.user, triggers()), query, FILTERS), query)
        return Response(TriggerShape(found.rows, many=True).data, headers=found.headers)

    @operation("createTrigger", "Trigger", {}, errors=[409])
    def post(self, request: Request) -> NoReturn:
        """Reject every request: triggers come from definitions."""
        raise WrongState(FROM_DEFINITION, "DEFINED")


class OneTrigger(Endpoint):
    """The endpoint that returns and changes one trigger, and rejects its deletion."""

    @operation("getTrigger", "Trigger", {200: TriggerShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return one trigger, without its secret."""
        trigger, _ = obtain(self.user, triggers(), id, Action.VIEW)
        return Response(TriggerShape(trigger).data)

    @operation(
        "patchTrigger",
        "Trigger",
        {200: TriggerShape},
        request=TriggerChange,
        errors=[403, 404, 409],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Enable or disable a trigger, or pause or resume a schedule.

        Publishing keeps this state while the trigger's settings are unchanged. For settings that no
        trigger of the workflow had before, publishing creates a new, enabled trigger.
        """
        obtain(self.user, triggers(), id, SWITCH_ON.needs)
        asked = self.body(TriggerChange)
        if "enabled" in asked:
            change = SWITCH_ON if asked["enabled"] else SWITCH_OFF
        else:
            change = RESUME if asked["until"] is None else PAUSE
        return Response(TriggerShape(change.apply(id, self.actor, asked)).data)

    @operation("deleteTrigger", "Trigger", {}, errors=[403, 404, 409])
    def delete(self, request: Request, id: UUID) -> NoReturn:  # noqa: A002
        """Reject every request: triggers come from definitions."""
        obtain(self.user, triggers(), id, Action.AUTHOR)
        raise WrongState(FROM_DEFINITION, "DEFINED")


class Secret(Endpoint):
    """The endpoint that reveals a webhook's secret."""

    sensitive = frozenset({"GET"})

    @operation("getTriggerSecret", "Trigger", {200: SecretShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Return the secret; requires the permission `configure`. Each use is recorded."""
        secret, _ = self.perform(REVEAL_SECRET, triggers(), id, {})
        return Response({"secret": secret})


class RotateSecret(Endpoint):
    """The endpoint that replaces a webhook's secret."""

    sensitive = CHANGES

    @operation(
        "rotateTriggerSecret", "Trigger", {200: SecretShape}, request=Rotation, errors=[403, 404]
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Create a new secret; the old one is valid for `overlapSeconds`. Requires `configure`."""
        secret, _ = self.perform(ROTATE_SECRET, triggers(), id, Rotation)
        return Response({"secret": secret})
