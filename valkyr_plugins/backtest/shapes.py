"""Backtests as JSON: the request, the progress, the groups, and a row per execution."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from executions.public.access import Powers
from executions.public.api import (
    Body,
    CamelCase,
    CamelCaseSerializer,
    JsonObject,
    PageQuery,
    Payload,
    Text,
    Whole,
)
from executions.public.models import Permission
from valkyr_plugins.backtest import lifecycle
from valkyr_plugins.backtest.groups import sorted_groups, text_of
from valkyr_plugins.backtest.models import (
    Backtest,
    BacktestResult,
    BacktestSource,
    BacktestState,
)
from valkyr_plugins.backtest.verdicts import BacktestVerdict, VerdictReason

HIGHEST = 2**31 - 1
ENDS = [(name, name) for name in ("SUCCESS", "FAILED", "TIMEOUT", "CANCELLED")]
REASONS = [(str(one), str(one)) for one in VerdictReason]


class NewBacktest(Body):
    """The definition to compare, and the executions to compare it with."""

    definition = JsonObject(required=False, help_text="Compared in place of the stored draft.")
    version = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=HIGHEST,
        help_text="A published version to compare in place of the draft.",
    )
    last = Whole(
        required=False,
        default=lifecycle.DEFAULT,
        min_value=1,
        max_value=lifecycle.MOST,
        help_text="At most this many executions, the newest first.",
    )
    states = serializers.ListField(
        child=serializers.ChoiceField(ENDS),
        required=False,
        default=list,
        max_length=len(ENDS),
        help_text="Only executions that ended in these states. Default: all.",
    )
    until = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="Only executions that were created before this time.",
    )
    ranOn = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=HIGHEST,
        help_text="Only executions that ran on this version.",
    )

    def get_fields(self) -> Any:
        """Return the fields, including `from`, whose name is a Python keyword."""
        since = serializers.DateTimeField(
            required=False,
            allow_null=True,
            help_text="Only executions that were created at this time or later.",
        )
        return {**super().get_fields(), "from": since}

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Reject a version together with a definition."""
        if attrs.get("version") is not None and "definition" in attrs:
            raise serializers.ValidationError(
                {"version": "Give a version or a definition, not both."}, code="exclusive"
            )
        return attrs


class BacktestReason(Body):
    """A reason for the audit trail."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class ResultsQuery(PageQuery):
    """The parameters of the list of a backtest's results."""

    verdict = serializers.ChoiceField(BacktestVerdict.choices, required=False)


class BacktestQuery(PageQuery):
    """The parameters of the list of a workflow's backtests."""


class VerdictCounts(CamelCaseSerializer):
    """The number of executions or steps with each verdict."""

    SAME = serializers.IntegerField(default=0)
    DIFFERENT_OUTPUT = serializers.IntegerField(default=0)
    DIFFERENT_PATH = serializers.IntegerField(default=0)
    WOULD_CALL = serializers.IntegerField(default=0)
    NOT_COMPARABLE = serializers.IntegerField(default=0)

    as_declared = frozenset(BacktestVerdict.values)


class StepCounts(VerdictCounts):
    """The counts of the verdicts on one step, over all executions and all iterations of a body."""

    stepPath = serializers.CharField(help_text="Without the numbers of iterations.")

    as_declared = VerdictCounts.as_declared | {"stepPath"}


class FieldChangeShape(CamelCaseSerializer):
    """A value that differs between the record and the backtest, shortened."""

    field = serializers.CharField(help_text="The path of the value; empty for the whole.")
    recorded = Payload(allow_null=True)
    now = Payload(allow_null=True)


class BacktestGroupShape(CamelCaseSerializer):
    """Executions in which a step has the same kind of verdict."""

    stepPath = serializers.CharField(
        help_text="Without the numbers of iterations; empty for the output or the end."
    )
    verdict = serializers.ChoiceField(BacktestVerdict.choices)
    reason = serializers.ChoiceField(REASONS)
    module = serializers.CharField()
    count = serializers.IntegerField(help_text="Executions.")
    executions = serializers.ListField(
        child=serializers.UUIDField(), help_text="The IDs of up to ten of these executions."
    )
    fields_ = serializers.ListField(
        child=serializers.CharField(), help_text="The values that differ."
    )
    text = serializers.SerializerMethodField(help_text="The group as a sentence.")
    sample = FieldChangeShape(many=True, help_text="The values of the first execution.")

    def get_fields(self) -> Any:
        """Return the serializer's fields; the field `fields_` reads and writes the key `fields`.

        The base class already uses the name `fields` for an attribute.
        """
        found = super().get_fields()
        found["fields"].source = None
        return found

    def get_text(self, group: dict[str, Any]) -> str:
        """Return the group's sentence, without values if the caller may not see payloads."""
        may: Powers | None = self.context.get("may")
        values = may is not None and may.allows(Permission.VIEW_PAYLOADS)
        return text_of(group, values=values)


class BacktestSummaryShape(CamelCase, serializers.ModelSerializer[Backtest]):
    """A backtest in a list."""

    workflow_id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    definition_source = serializers.ChoiceField(
        BacktestSource.choices, source="source", help_text="Where the definition comes from."
    )
    version = serializers.IntegerField(
        allow_null=True,
        help_text="The compared version; null unless `definitionSource` is `VERSION`.",
    )
    revision = serializers.IntegerField(help_text="The workflow's revision when it was requested.")
    state = serializers.ChoiceField(BacktestState.choices)
    last = serializers.IntegerField(source="most")
    selection = serializers.JSONField()
    total = serializers.IntegerField(
        allow_null=True, help_text="Executions to compare; null until a worker has counted them."
    )
    done = serializers.IntegerField(help_text="Executions compared.")
    counts = VerdictCounts(help_text="Executions by verdict.")
    error = serializers.CharField(help_text="Why it failed.")
    createdBy = serializers.CharField(source="created_by_name")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = Backtest
        fields = [
            "id", "workspace_id", "workflow_id", "definition_source", "version", "revision",
            "state", "last", "selection", "total", "done", "counts", "error", "createdBy",
            "created_at", "started_at", "finished_at",
        ]  # fmt: skip


class BacktestShape(BacktestSummaryShape):
    """A backtest with its groups and the verdicts on each step."""

    groups = serializers.SerializerMethodField()
    groupsLeftOut = serializers.SerializerMethodField(
        help_text="The number of differences that are not in the first 200 groups."
    )
    steps = serializers.SerializerMethodField()

    class Meta(BacktestSummaryShape.Meta):
        fields = [*BacktestSummaryShape.Meta.fields, "groups", "groupsLeftOut", "steps"]

    @extend_schema_field(BacktestGroupShape(many=True))
    def get_groups(self, row: Backtest) -> list[dict[str, Any]]:
        """Return the groups with differences, then the groups that cannot be compared."""
        found = sorted_groups((row.groups or {}).get("groups", ()))
        return list(BacktestGroupShape(found, many=True, context=self.context).data)

    def get_groupsLeftOut(self, row: Backtest) -> int:  # noqa: N802 - the JSON's name
        """Return the number of differences without a group."""
        return int((row.groups or {}).get("leftOut", 0))

    @extend_schema_field(StepCounts(many=True))
    def get_steps(self, row: Backtest) -> list[dict[str, Any]]:
        """Return the counts of each step's verdicts."""
        rows = [{"stepPath": path, **counts} for path, counts in sorted(row.by_step.items())]
        return list(StepCounts(rows, many=True).data)


class StepVerdictShape(CamelCaseSerializer):
    """The verdict on one step of an execution."""

    stepPath = serializers.CharField(help_text="Empty for the output or the end.")
    verdict = serializers.ChoiceField(BacktestVerdict.choices)
    reason = serializers.ChoiceField(REASONS)
    module = serializers.CharField()
    recorded = serializers.CharField(help_text="The recorded outcome.")
    detail = Payload(help_text="The new outcome or message, or the step whose result is unknown.")
    changes = FieldChangeShape(many=True, help_text="Inputs of a call, or outputs; at most 20.")


class BacktestResultShape(CamelCase, serializers.ModelSerializer[BacktestResult]):
    """The verdict on one execution."""

    execution_id = serializers.UUIDField()
    verdict = serializers.ChoiceField(BacktestVerdict.choices)
    sameSteps = serializers.IntegerField(source="same")
    steps = serializers.SerializerMethodField()

    class Meta:
        model = BacktestResult
        fields = ["execution_id", "verdict", "sameSteps", "steps"]

    @extend_schema_field(StepVerdictShape(many=True))
    def get_steps(self, row: BacktestResult) -> list[dict[str, Any]]:
        """Return the first 100 verdicts other than SAME."""
        return list(StepVerdictShape(row.steps or [], many=True, context=self.context).data)
