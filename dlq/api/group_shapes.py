"""Failure groups as JSON, the filters of their list, and the changes that users can make."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dlq.groups.facets import FACETS
from dlq.models import FailureGroup, GroupStatus
from executions.api.bulk import Many
from executions.api.fields import (
    Body,
    CamelCase,
    CamelCaseSerializer,
    Flag,
    Id,
    Text,
    Whole,
    asked_user_id,
    shown_user_id,
)
from executions.api.labels import LabelsField
from executions.api.paging import PageQuery

ORDERS = {"lastSeen": "last_seen", "total": "total", "open": "open"}
# The statuses that a user may set; NEW reopens a group.
SETTABLE = [
    (status.value, status.label)
    for status in (
        GroupStatus.NEW,
        GroupStatus.ACKNOWLEDGED,
        GroupStatus.SNOOZED,
        GroupStatus.RESOLVED,
        GroupStatus.IGNORED,
    )
]
MOST = 2**31 - 1


class FailureGroupSummary(CamelCase, serializers.ModelSerializer[FailureGroup]):
    """A failure group in a list."""

    workspace_id = serializers.UUIDField()
    workflow_id = serializers.UUIDField()
    stepPath = serializers.CharField(source="place", help_text="Without iterations: `each[].pay`.")
    message = serializers.CharField(help_text="The message without numbers, ids, quotes and paths.")
    split_on = serializers.CharField()
    status = serializers.ChoiceField(GroupStatus.choices)
    status_at = serializers.DateTimeField()
    snoozed_until = serializers.DateTimeField(allow_null=True)
    snoozed_total = serializers.IntegerField(allow_null=True)
    snoozed_version = serializers.IntegerField(allow_null=True)
    resolved_in = serializers.IntegerField(allow_null=True)
    owner_id = shown_user_id(allow_null=True)
    owner = serializers.SerializerMethodField()
    total = serializers.IntegerField(
        help_text=("The number of all failures so far; about a second late.")
    )
    open = serializers.IntegerField()
    first_seen = serializers.DateTimeField()
    last_seen = serializers.DateTimeField()

    class Meta:
        model = FailureGroup
        fields = [
            "id", "workspace_id", "workflow_id", "stepPath", "module", "exception", "message",
            "sample", "split_on", "status", "status_at", "snoozed_until", "snoozed_total",
            "snoozed_version", "resolved_in", "owner_id", "owner", "muted", "total", "open",
            "first_seen", "last_seen",
        ]  # fmt: skip

    def get_owner(self, group: FailureGroup) -> str | None:
        """Return the owner's user name; null if the group has no owner."""
        return group.owner.get_username() if group.owner else None


class FailedHourShape(CamelCaseSerializer):
    """The number of failures in one hour, and the start of the hour."""

    hour = serializers.DateTimeField()
    count = serializers.IntegerField()


class GroupVersionShape(CamelCaseSerializer):
    """The failures in one version of the workflow: their count, first time and last time."""

    number = serializers.IntegerField()
    count = serializers.IntegerField()
    first_seen = serializers.DateTimeField()
    last_seen = serializers.DateTimeField()


class NoteShape(CamelCaseSerializer):
    """A note on a failure group."""

    id = serializers.UUIDField()
    author = serializers.CharField(source="author_name")
    at = serializers.DateTimeField()
    text = serializers.CharField()


class ShareShape(CamelCaseSerializer):
    """The number of dead letters with one value; "" stands for those without a value."""

    value = serializers.CharField()
    count = serializers.IntegerField()


class FacetShape(CamelCaseSerializer):
    """The most frequent values of one facet, and the number of dead letters with other values."""

    name = serializers.CharField()
    shares = ShareShape(many=True)
    others = serializers.IntegerField()


class BreakdownShape(CamelCaseSerializer):
    """Counts of a group's newest dead letters for each value of each facet."""

    looked_at = serializers.IntegerField()
    more = serializers.BooleanField(help_text="Whether there may be older dead letters.")
    facets = FacetShape(many=True)


class FingerprintShape(CamelCaseSerializer):
    """A fingerprint of the group's failures; `splitBy` is the facet that splits it, "" if none."""

    fingerprint = serializers.CharField()
    split_by = serializers.CharField()


class FailureGroupDetail(FailureGroupSummary):
    """A failure group with all its fields."""

    mergedInto = serializers.UUIDField(source="merged_into_id", allow_null=True)
    moving = serializers.SerializerMethodField(
        help_text="Whether more dead letters are being moved to the group."
    )
    hours = serializers.SerializerMethodField()
    versions = serializers.SerializerMethodField()
    notes = serializers.SerializerMethodField()
    breakdown = serializers.SerializerMethodField()
    fingerprints = serializers.SerializerMethodField()

    class Meta(FailureGroupSummary.Meta):
        fields = [
            *FailureGroupSummary.Meta.fields, "mergedInto", "moving", "hours", "versions",
            "notes", "breakdown", "fingerprints",
        ]  # fmt: skip

    def get_moving(self, group: FailureGroup) -> bool:
        """Return whether dead letters are being moved to or from the group."""
        return bool(self.context["moving"])

    @extend_schema_field(FailedHourShape(many=True))
    def get_hours(self, group: FailureGroup) -> Any:
        """Return the hours with failures in the last seven days, oldest first."""
        return FailedHourShape(self.context["hours"], many=True).data

    @extend_schema_field(GroupVersionShape(many=True))
    def get_versions(self, group: FailureGroup) -> Any:
        """Return the versions with failures, newest first, at most 100."""
        return GroupVersionShape(self.context["versions"], many=True).data

    @extend_schema_field(NoteShape(many=True))
    def get_notes(self, group: FailureGroup) -> Any:
        """Return the newest 100 notes, oldest first."""
        return NoteShape(self.context["notes"], many=True).data

    @extend_schema_field(BreakdownShape)
    def get_breakdown(self, group: FailureGroup) -> Any:
        """Return the counts of the group's newest 10,000 dead letters for each facet."""
        return BreakdownShape(self.context["breakdown"]).data

    @extend_schema_field(FingerprintShape(many=True))
    def get_fingerprints(self, group: FailureGroup) -> Any:
        """Return the group's fingerprints, at most 100."""
        return FingerprintShape(self.context["fingerprints"], many=True).data


class GroupQuery(PageQuery):
    """The filters of the list of failure groups."""

    workspaceId = serializers.UUIDField(required=False, help_text="Only objects of this workspace.")
    workflowId = serializers.UUIDField(required=False)
    status = serializers.ChoiceField(GroupStatus.choices, required=False)
    ownerId = asked_user_id(required=False)
    module = serializers.CharField(required=False, max_length=100)
    exception = serializers.CharField(required=False, max_length=200)
    seenAfter = serializers.DateTimeField(required=False)
    label = LabelsField(  # type: ignore[assignment] # a field, not its own label
        required=False,
        help_text="Only groups of the newest 2,000 dead letters with this label, as name:value, "
        "or with several, as a JSON object.",
    )
    text = serializers.CharField(
        required=False, max_length=200, help_text="A part of a group's message."
    )
    order = serializers.ChoiceField(
        [(name, name) for name in ORDERS],
        required=False,
        default="lastSeen",
        help_text="The newest or the largest groups first.",
    )


class GroupChange(Body):
    """The changes to make; an omitted field changes nothing."""

    status = serializers.ChoiceField(SETTABLE, required=False)
    snoozeUntil = serializers.DateTimeField(required=False)
    snoozeTotal = Whole(required=False, min_value=1, max_value=2**53,
        help_text="The snooze ends when the group's total number of failures reaches this.",
    )  # fmt: skip
    snoozeVersion = Whole(
        required=False,
        min_value=1,
        max_value=MOST,
        help_text=("The snooze ends when a failure occurs in a later version than this."),
    )
    resolvedIn = Whole(
        required=False,
        min_value=1,
        max_value=MOST,
        help_text=("A failure in this version or later reopens it as regressed."),
    )
    ownerId = asked_user_id(strict=True, required=False, allow_null=True)
    muted = Flag(required=False, help_text="A muted group raises no alerts.")
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check the fields that depend on the status; require `status`, `ownerId` or `muted`.

        Raises ValidationError.
        """
        terms = {
            "SNOOZED": {"snoozeUntil", "snoozeTotal", "snoozeVersion"},
            "RESOLVED": {"resolvedIn"},
        }
        for status, names in terms.items():
            if attrs.get("status") != status and (odd := sorted(names & set(attrs))):
                text = f"Only allowed with the status {status}."
                raise serializers.ValidationError(
                    {name: [text] for name in odd}, code="without_status"
                )
        if attrs.get("status") == "SNOOZED" and not terms["SNOOZED"] & set(attrs):
            text = "Set the end of the snooze: snoozeUntil, snoozeTotal or snoozeVersion."
            raise serializers.ValidationError({"status": [text]}, code="required")
        if not {"status", "ownerId", "muted"} & set(attrs):
            text = "Set at least one of status, ownerId and muted."
            raise serializers.ValidationError({"status": [text]}, code="required")
        return attrs


class GroupChangeMany(Many, GroupChange):
    """The groups, and the changes to make in each group."""


class NewNote(Body):
    """The text of a new note on a failure group."""

    text = Text(max_length=10_000)


class MergeBody(Body):
    """The groups to merge into this one."""

    ids = serializers.ListField(child=Id(), min_length=1, max_length=50)
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class UnmergeBody(Body):
    """The fingerprint to move to a separate group."""

    fingerprint = Text(max_length=64)
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class SplitBody(Body):
    """The facet by which to split the group."""

    by = serializers.ChoiceField(list(FACETS.items()))
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class PartShape(CamelCaseSerializer):
    """One value of the facet, and the group of failures with this value."""

    value = serializers.CharField()
    group_id = serializers.UUIDField()
