"""Redrives as JSON: the request, the progress, and the result of each dead letter."""
# ruff: noqa: N815 - the names are the JSON's

from datetime import datetime
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from dlq.public.selection import EntryFilters
from executions.public.api import (
    MAX_IDS,
    Body,
    CamelCase,
    CamelCaseSerializer,
    Id,
    JsonObject,
    ListQuery,
    PageQuery,
    Payload,
    Text,
    Whole,
)
from runners.public.api import VersionField
from valkyr_plugins.redrive.models import (
    ItemState,
    Redrive,
    RedriveItem,
    RedriveScope,
    RedriveState,
)
from valkyr_plugins.redrive.options import MAX_RATE, MAX_WINDOW, MOST
from valkyr_plugins.redrive.progress import progress


class Choice(Body):
    """A choice of dead letters by exactly one of three fields; closed dead letters are omitted."""

    ids = serializers.ListField(child=Id(), required=False, min_length=1, max_length=MAX_IDS)
    filter = EntryFilters(required=False)
    groupId = Id(required=False)
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)
    ratePerSecond = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text=f"More than 0, at most {MAX_RATE:,}; default: as fast as possible.",
    )
    overrides = JsonObject(
        required=False, allow_null=True, help_text="A JSON merge patch (RFC 7396) of the inputs."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Raise ValidationError unless exactly one of `ids`, `filter` and `groupId` is given."""
        given = [name for name in ("ids", "filter", "groupId") if name in attrs]
        if len(given) != 1:
            raise serializers.ValidationError(
                {"ids": ["Give exactly one of ids, filter and groupId."]}, code="one_choice"
            )
        return attrs


class NewRedrive(Choice):
    """A new redrive, which is started separately."""

    scope = serializers.ChoiceField(RedriveScope.choices, required=False, default=RedriveScope.STEP)
    fromStep = Text(
        required=False,
        default="",
        allow_blank=True,
        max_length=1_000,
        help_text=(
            "With scope FROM: the path of the first step to run; empty for the failed step of each "
            "dead letter."
        ),
    )
    version = VersionField(required=False, default="pinned")
    expression = Text(
        required=False,
        default="",
        allow_blank=True,
        max_length=10_000,
        help_text=(
            "Instead of overrides: an expression that returns the patch of each dead letter. It "
            "reads inputs, error, attempts and entry (the dead letter). Needs the permission "
            "view_payloads."
        ),
    )
    maxInFlight = Whole(required=False, allow_null=True, min_value=1, max_value=MOST)
    canary = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_WINDOW,
        help_text="Sends this many first and waits for their results.",
    )
    stopAbove = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=100,
        help_text=(
            "It stops if more than this percentage of the last stopWindow results failed again."
        ),
    )
    stopWindow = Whole(required=False, default=100, min_value=1, max_value=MAX_WINDOW)


class RedriveReason(Body):
    """The body of requests that change or preview a redrive: the reason."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class RedriveQuery(ListQuery):
    """The filters of the list of redrives."""

    state = serializers.ChoiceField(RedriveState.choices, required=False)
    groupId = serializers.UUIDField(required=False)


class ItemsQuery(PageQuery):
    """The filters of a redrive's items."""

    state = serializers.ChoiceField(ItemState.choices, required=False)


class ProgressShape(CamelCaseSerializer):
    """The progress of a redrive."""

    queued = serializers.IntegerField()
    running = serializers.IntegerField(help_text="Dead letters that were sent and have not ended.")
    succeeded = serializers.IntegerField()
    failedAgain = serializers.IntegerField()
    skipped = serializers.IntegerField()
    aborted = serializers.IntegerField()
    ratePerSecond = serializers.FloatField(
        help_text="Dead letters sent per second since the redrive was started or resumed."
    )
    secondsLeft = serializers.FloatField(allow_null=True)


class RedriveSummary(CamelCase, serializers.ModelSerializer[Redrive]):
    """A redrive, as lists show it."""

    workspace_id = serializers.UUIDField()
    group_id = serializers.UUIDField(allow_null=True)
    state = serializers.ChoiceField(RedriveState.choices)
    scope = serializers.ChoiceField(RedriveScope.choices)
    createdBy = serializers.CharField(source="created_by_name")
    stop_reason = serializers.CharField()
    truncated = serializers.BooleanField(
        help_text=f"There were more than {MOST:,} dead letters; these are the oldest."
    )
    progress = serializers.SerializerMethodField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = Redrive
        fields: ClassVar[list[str]] = [
            "id", "workspace_id", "group_id", "state", "scope", "reason", "createdBy",
            "stop_reason", "total", "truncated", "progress", "created_at", "started_at",
            "finished_at",
        ]  # fmt: skip

    @extend_schema_field(ProgressShape)
    def get_progress(self, redrive: Redrive) -> dict[str, Any]:
        """Return the redrive's counts, rate and remaining time."""
        now: datetime = self.context["now"]
        found = progress(redrive, now)
        return {
            "queued": found.queued,
            "running": found.running,
            "succeeded": found.succeeded,
            "failedAgain": found.failed_again,
            "skipped": found.skipped,
            "aborted": found.aborted,
            "ratePerSecond": found.rate,
            "secondsLeft": found.seconds_left,
        }


class RedriveDetail(RedriveSummary):
    """A redrive with all its fields."""

    from_step = serializers.CharField()
    ratePerSecond = serializers.FloatField(source="rate", allow_null=True)
    max_in_flight = serializers.IntegerField(allow_null=True)
    canary = serializers.IntegerField()
    stop_above = serializers.FloatField(allow_null=True)
    stop_window = serializers.IntegerField()
    # These fields may contain values of inputs.
    selection = Payload()
    overrides = Payload(allow_null=True)
    expression = Payload()

    class Meta(RedriveSummary.Meta):
        fields: ClassVar[list[str]] = [
            *RedriveSummary.Meta.fields, "from_step", "version", "ratePerSecond", "max_in_flight",
            "canary", "stop_above", "stop_window", "selection", "overrides", "expression",
        ]  # fmt: skip


class RedriveItemShape(CamelCase, serializers.ModelSerializer[RedriveItem]):
    """One dead letter of a redrive, with its state and result."""

    entry_id = serializers.UUIDField()
    state = serializers.ChoiceField(ItemState.choices)
    run_id = serializers.UUIDField(allow_null=True)
    execution_id = serializers.UUIDField(allow_null=True)
    again_id = serializers.UUIDField(
        allow_null=True, help_text="The new dead letter, if it failed again."
    )
    sent_at = serializers.DateTimeField(allow_null=True)
    ended_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = RedriveItem
        fields: ClassVar[list[str]] = [
            "entry_id", "state", "reason", "run_id", "execution_id", "again_id", "sent_at",
            "ended_at",
        ]  # fmt: skip


class SkippedShape(CamelCaseSerializer):
    """The number of dead letters that would not run, for one reason."""

    reason = serializers.CharField()
    count = serializers.IntegerField()


class EffectShape(CamelCaseSerializer):
    """A step with side effects that would run again."""

    step = serializers.CharField()
    module = serializers.CharField()
    effect = serializers.ChoiceField(["idempotent", "database", "external"])
    count = serializers.IntegerField()


class SampleShape(CamelCaseSerializer):
    """The inputs of one dead letter, before and after the changes."""

    entry_id = serializers.UUIDField()
    before = Payload(allow_null=True)
    after = Payload(allow_null=True)


class RejectedShape(CamelCaseSerializer):
    """A dead letter whose changed inputs its module would reject."""

    entry_id = serializers.UUIDField()
    problems = Payload(help_text="The problems, as sentences.")


class VersionChangeShape(CamelCaseSerializer):
    """The changes of the definition since the version of the failed runs."""

    before = serializers.IntegerField()
    after = serializers.IntegerField()
    changes = serializers.ListField(child=serializers.CharField())
    more = serializers.BooleanField()


class PreviewShape(CamelCaseSerializer):
    """The preview of a redrive: what would run, what is skipped, and side effects."""

    entries = serializers.IntegerField(help_text="The number of dead letters.")
    dead_letters = serializers.ListField(
        child=serializers.UUIDField(),
        help_text="The IDs of the first 100, in the order of sending.",
    )
    runs = serializers.IntegerField(help_text="The number of dead letters that would run.")
    skipped = SkippedShape(many=True)
    effects = EffectShape(many=True)
    samples = SampleShape(many=True)
    rejected = RejectedShape(many=True)
    checked = serializers.IntegerField(
        help_text="The number of dead letters on which the overrides were tried."
    )
    seconds = serializers.FloatField(help_text="Estimated duration.")
    definition_changes = VersionChangeShape(many=True)
    truncated = serializers.BooleanField()
