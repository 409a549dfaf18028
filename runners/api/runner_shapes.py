"""Worker processes as JSON."""
# ruff: noqa: N815 - the names are the JSON's

from rest_framework import serializers

from executions.api.paging import PageQuery
from runners.models import Runner


class RunnerShape(serializers.ModelSerializer[Runner]):
    """A worker process, or a remote runner of a workspace."""

    workspaceId = serializers.UUIDField(
        source="workspace_id", allow_null=True, help_text="Of a remote runner; null: serves all."
    )
    queues = serializers.ListField(child=serializers.CharField(), help_text="What it works on.")
    startedAt = serializers.DateTimeField(source="started_at")
    seenAt = serializers.DateTimeField(source="seen_at", help_text="Its last sign of life.")
    leavingAt = serializers.DateTimeField(
        source="leaving_at", allow_null=True, help_text="When it announced its shutdown."
    )

    class Meta:
        model = Runner
        fields = [
            "id", "workspaceId", "name", "host", "pid", "pool", "queues", "startedAt", "seenAt",
            "leavingAt",
        ]  # fmt: skip


class RunnerQuery(PageQuery):
    """What `listRunners` takes."""

    pool = serializers.CharField(required=False, max_length=20, help_text="`remote`, for example.")
