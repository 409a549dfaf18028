"""Canaries and rollbacks as JSON: requests, and both versions side by side."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.public.api import Body, CamelCase, CamelCaseSerializer, PageQuery, Text, Whole
from valkyr_plugins.canary import figures
from valkyr_plugins.canary.models import Canary, CanaryState, Treatment, VersionRollback
from valkyr_plugins.canary.stop_rule import StopRule

RULE = StopRule()
MAX_AGE = 400 * 24 * 3_600
HIGHEST = 2**31 - 1


class StopRuleBody(Body):
    """The conditions that stop the canary automatically; null switches a condition off."""

    atLeast = Whole(
        required=False,
        default=RULE.at_least,
        min_value=1,
        max_value=figures.MOST,
        help_text="How many executions of the canary must end before `failureRate` applies, and "
        "how many of each version must succeed before `slower` applies. Before that, these "
        "limits stop only a canary that clearly exceeds them. `newGroup` applies from the start.",
    )
    failureRate = serializers.FloatField(
        required=False,
        default=RULE.failure_rate,
        allow_null=True,
        min_value=0,
        max_value=100,
        help_text="Stops if more than this percentage of the ended executions failed.",
    )
    slower = serializers.FloatField(
        required=False,
        default=RULE.slower,
        allow_null=True,
        min_value=1,
        max_value=1_000,
        help_text="Stops if the 95th percentile of the durations is more than this many times "
        "that of the latest version.",
    )
    newGroup = Whole(
        required=False,
        default=RULE.new_group,
        allow_null=True,
        min_value=1,
        max_value=figures.MOST,
        help_text="Stops at this many dead letters in a failure group that no other version has.",
    )

    def to_internal_value(self, data: Any) -> StopRule:
        """Return the rule. Raises ValidationError."""
        given = super().to_internal_value(data)
        return StopRule(
            at_least=given["atLeast"],
            failure_rate=given["failureRate"],
            slower=given["slower"],
            new_group=given["newGroup"],
        )


class CanaryChange(Body):
    """The changes to a running canary."""

    percent = serializers.FloatField(
        required=False,
        min_value=0.01,
        max_value=100,
        help_text="The share of new executions that use the version, in percent.",
    )
    stop = StopRuleBody(
        required=False,
        allow_null=True,
        help_text="The rule that stops the canary; null to never stop it automatically.",
    )
    promoteAfterSeconds = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_AGE,
        help_text="It becomes the latest version this long after the request, once enough "
        "executions ended and none of the limits is exceeded.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class NewCanary(CanaryChange):
    """The version to publish for a share of new executions, and its conditions."""

    percent = serializers.FloatField(
        min_value=0.01,
        max_value=100,
        help_text="The share of new executions that use the version, in percent.",
    )
    version = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=HIGHEST,
        help_text="An earlier published version to publish again, in place of the draft.",
    )


NAMES = {"promoteAfterSeconds": "promote_after", "stop": "rule"}


def values(given: dict[str, Any]) -> dict[str, Any]:
    """Return a body's values under the names that the operations use."""
    return {NAMES.get(name, name): value for name, value in given.items()}


class CanaryReason(Body):
    """A reason for the audit trail."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class NewRollback(Body):
    """The version to withdraw, and the treatment of the executions that started on it."""

    version = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=HIGHEST,
        help_text="The version to withdraw; default: the canary's, else the latest. A version "
        "that was withdrawn before is allowed, to cancel or fork its executions.",
    )
    executions = serializers.ChoiceField(
        Treatment.choices,
        required=False,
        default=Treatment.LEAVE,
        help_text="CANCEL cancels the running executions. FORK also cancels them; then it starts "
        "each of them, and each failed one, on the good version, from the step that "
        "had not succeeded.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class StopRuleShape(CamelCaseSerializer):
    """The conditions that stop the canary automatically."""

    at_least = serializers.IntegerField()
    failure_rate = serializers.FloatField(allow_null=True)
    slower = serializers.FloatField(allow_null=True)
    new_group = serializers.IntegerField(allow_null=True)


class CostPerExecution(CamelCaseSerializer):
    """The average cost of an execution in one currency."""

    currency = serializers.CharField()
    perExecution = serializers.CharField()


class SideShape(CamelCaseSerializer):
    """The figures of one version's newest executions since the canary began, at most 5,000."""

    started = serializers.IntegerField()
    ended = serializers.IntegerField(help_text="Succeeded, failed, or timed out.")
    failed = serializers.IntegerField(help_text="Includes time-outs.")
    cancelled = serializers.IntegerField()
    failure_rate = serializers.FloatField(
        allow_null=True, help_text="The percentage of ended executions that failed."
    )
    p50_seconds = serializers.FloatField(allow_null=True, help_text="Of succeeded executions.")
    p95_seconds = serializers.FloatField(allow_null=True)
    costs = CostPerExecution(many=True, help_text="Of the newest 1,000 executions.")


class GroupSide(CamelCaseSerializer):
    """A failure group of the canary version, with the numbers of dead letters in both versions."""

    id = serializers.UUIDField()
    name = serializers.CharField(help_text="The step and the exception.")
    canary = serializers.IntegerField(help_text="Dead letters of the canary version.")
    latest = serializers.IntegerField(help_text="Dead letters of the latest version.")
    is_new = serializers.BooleanField(
        help_text="Whether no other version has failures in the group."
    )


class SidesShape(CamelCaseSerializer):
    """Both versions side by side; for an ended canary, as they were at its end."""

    canary = SideShape()
    latest = SideShape()
    groups = GroupSide(many=True, help_text="At most 20, the most frequent first.")


class CanaryShape(CamelCase, serializers.ModelSerializer[Canary]):
    """A version that a share of new executions uses."""

    workflow_id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    version = serializers.IntegerField(source="version.number")
    latestVersion = serializers.IntegerField(
        source="latest.number", help_text="The version that the other executions use."
    )
    percent = serializers.FloatField()
    stop = StopRuleShape(allow_null=True)
    promote_at = serializers.DateTimeField(allow_null=True)
    state = serializers.ChoiceField(CanaryState.choices)
    reason = serializers.CharField(help_text="Why the canary ended.")
    createdBy = serializers.CharField(source="created_by_name")
    endedBy = serializers.CharField(source="ended_by_name")
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = Canary
        fields = [
            "id", "workspace_id", "workflow_id", "version", "latestVersion", "percent", "stop",
            "promote_at", "state", "reason", "createdBy", "created_at", "endedBy", "ended_at",
        ]  # fmt: skip


class CanaryDetail(CanaryShape):
    """A canary with the figures of both versions."""

    figures = serializers.SerializerMethodField()

    class Meta(CanaryShape.Meta):
        fields = [*CanaryShape.Meta.fields, "figures"]

    @extend_schema_field(SidesShape)
    def get_figures(self, canary: Canary) -> dict[str, Any]:
        """Return both versions side by side."""
        found = canary.figures or figures.as_json(figures.compare(canary))
        return dict(SidesShape(found).data)


class CanaryQuery(PageQuery):
    """The parameters of the lists of a workflow's canaries and rollbacks."""


class RefusedExecution(CamelCaseSerializer):
    """An execution that could not be cancelled or forked, and the reason."""

    id = serializers.UUIDField()
    reason = serializers.CharField()


class RollbackShape(CamelCase, serializers.ModelSerializer[VersionRollback]):
    """A rollback: the withdrawn version, and the progress of settling its executions."""

    workflow_id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    version = serializers.IntegerField(source="bad.number", help_text="The withdrawn version.")
    goodVersion = serializers.IntegerField(
        source="good.number", help_text="The version that new executions use instead."
    )
    switched = serializers.BooleanField(
        help_text="False if new executions no longer used the version, for example after its "
        "canary stopped."
    )
    executions = serializers.ChoiceField(Treatment.choices, source="treatment")
    cancelled = serializers.IntegerField()
    forked = serializers.IntegerField()
    failed = serializers.IntegerField(help_text="Executions that could not be cancelled or forked.")
    refused = RefusedExecution(many=True, help_text="The first 100 of them, with the reasons.")
    reason = serializers.CharField()
    createdBy = serializers.CharField(source="created_by_name")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(
        allow_null=True, help_text="null while executions are being cancelled or forked."
    )

    class Meta:
        model = VersionRollback
        fields = [
            "id", "workspace_id", "workflow_id", "version", "goodVersion", "switched",
            "executions", "cancelled", "forked", "failed", "refused", "reason", "createdBy",
            "created_at", "finished_at",
        ]  # fmt: skip
