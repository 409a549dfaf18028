"""What a workspace uses of its limits."""

from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain
from executions.admission.usage import usage_of
from executions.api.camel_case import CamelCase, CamelCaseSerializer
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.models import Workspace
from executions.quotas.usage import Window


class WindowShape(CamelCase, serializers.Serializer[Window]):
    """What is used of a limit in a window that goes on: a full hour, or a day, in UTC."""

    limit = serializers.IntegerField(allow_null=True, help_text="Null: none.")
    used = serializers.IntegerField(
        allow_null=True, help_text="Null where nothing is limited, and so nothing is counted."
    )
    starts_at = serializers.DateTimeField()
    ends_at = serializers.DateTimeField()


class TierLimits(CamelCaseSerializer):
    """A tier's limits; null: none."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    max_concurrent = serializers.IntegerField(allow_null=True)
    max_pending = serializers.IntegerField(allow_null=True)
    max_per_hour = serializers.IntegerField(allow_null=True)
    max_per_day = serializers.IntegerField(allow_null=True)


class WorkspaceUsageShape(CamelCaseSerializer):
    """What a workspace uses of its limits now."""

    workspace_id = serializers.UUIDField()
    tier = TierLimits()
    running = serializers.IntegerField(
        help_text="Executions that hold a place: those asleep and children do not."
    )
    pending = serializers.IntegerField(help_text="Executions that wait; counted up to 200,000.")
    hour = WindowShape()
    day = WindowShape()


class WorkspaceUsage(Endpoint):
    """What a workspace uses."""

    @operation("getWorkspaceUsage", "Workspace", {200: WorkspaceUsageShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """The workspace's limits, what runs and waits, what was started this hour and today."""
        obtain(self.user, Workspace.objects.all(), id, Action.VIEW)
        return Response(WorkspaceUsageShape(usage_of(id)).data)
