"""Worker processes as JSON."""

from rest_framework import serializers

from executions.api.camel_case import CamelCase
from executions.api.paging import PageQuery
from runners.models import Runner


class RunnerShape(CamelCase, serializers.ModelSerializer[Runner]):
    """A worker process, or a remote runner of a workspace."""

    workspace_id = serializers.UUIDField(
        allow_null=True, help_text="Of a remote runner; null: serves all."
    )
    queues = serializers.ListField(child=serializers.CharField(), help_text="What it works on.")
    started_at = serializers.DateTimeField()
    seen_at = serializers.DateTimeField(help_text="Its last sign of life.")
    leaving_at = serializers.DateTimeField(
        allow_null=True, help_text="When it announced its shutdown."
    )

    class Meta:
        model = Runner
        fields = [
            "id", "workspace_id", "name", "host", "pid", "pool", "queues", "started_at", "seen_at",
            "leaving_at",
        ]  # fmt: skip


class RunnerQuery(PageQuery):
    """What `listRunners` takes."""

    pool = serializers.CharField(required=False, max_length=20, help_text="`remote`, for example.")
