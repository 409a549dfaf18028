"""The audit trail as JSON, and the filters of its list."""
# ruff: noqa: N815 - the names are the JSON's

from rest_framework import serializers

from executions.api.camel_case import CamelCase
from executions.api.fields import Body, Json
from executions.api.paging import PageQuery
from executions.models import Activity, AuditSeal


class ActivitySummary(CamelCase, serializers.ModelSerializer[Activity]):
    """A row of the audit trail in a list: everything but what changed."""

    workspace_id = serializers.UUIDField(
        allow_null=True,
        help_text="Null for what concerns the whole installation.",
    )
    actor_id = serializers.IntegerField(allow_null=True)
    actor = serializers.CharField(source="actor_name")
    via = serializers.CharField(help_text="admin, api, api token <name>, command, engine …")
    address = serializers.IPAddressField(allow_null=True)
    object_type = serializers.CharField()
    object_id = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()

    class Meta:
        model = Activity
        fields = [
            "id", "workspace_id", "actor_id", "actor", "via", "address", "action", "object_type",
            "object_id", "reason", "created_at",
        ]  # fmt: skip


class ActivityShape(ActivitySummary):
    """A row of the audit trail in full."""

    before = Json(allow_null=True, help_text="The fields that changed, as they were.")
    after = Json(allow_null=True, help_text="The same fields as they are since.")
    details = Json(help_text="What else belongs to it, by action.")

    class Meta(ActivitySummary.Meta):
        fields = [*ActivitySummary.Meta.fields, "before", "after", "details"]


class AuditHead(CamelCase, serializers.ModelSerializer[AuditSeal]):
    """The newest seal of the audit trail."""

    head = serializers.SerializerMethodField(help_text="What to keep: `number:digest`.")
    digest = serializers.SerializerMethodField(help_text="SHA-256 in hex.")
    sealed_at = serializers.DateTimeField()

    class Meta:
        model = AuditSeal
        fields = ["head", "number", "digest", "sealed_at"]

    def get_head(self, seal: AuditSeal) -> str:
        """Number and digest."""
        return str(seal)

    def get_digest(self, seal: AuditSeal) -> str:
        """The digest alone."""
        return bytes(seal.digest).hex()


class ActivityFilters(Body):
    """Which rows of the audit trail."""

    workspaceId = serializers.UUIDField(required=False)
    actor = serializers.CharField(required=False, max_length=200, help_text="A user's name.")
    action = serializers.CharField(
        required=False, max_length=60, help_text="`execution.cancel`, or a beginning: `execution.`"
    )
    objectType = serializers.CharField(required=False, max_length=60)
    objectId = serializers.CharField(required=False, max_length=64)
    via = serializers.CharField(required=False, max_length=120)
    createdAfter = serializers.DateTimeField(required=False)
    createdBefore = serializers.DateTimeField(required=False)


class ActivityQuery(ActivityFilters, PageQuery):
    """The filters of the list."""
