"""Migrations of executions as JSON: requests, progress, previews and results."""
# ruff: noqa: N815 - the names are the JSON's

from typing import Any

from rest_framework import serializers

from executions.public.api import (
    MAX_IDS,
    Body,
    CamelCase,
    CamelCaseSerializer,
    Id,
    ListQuery,
    PageQuery,
    Text,
    Whole,
)
from valkyr_plugins.version_migration.models import (
    ExecutionMigration,
    MigratedExecution,
    MigratedState,
    MigrationState,
)
from valkyr_plugins.version_migration.plan import (
    MAX_CANARY,
    MAX_PATIENCE,
    MAX_RATE,
    MOST_NAMES,
    MigrationPlan,
)
from valkyr_plugins.version_migration.preview import GroupVerdict

HIGHEST = 2**31 - 1
LONGEST_NAME = 1_000


class MigrationOptions(Body):
    """The executions to migrate, the version, the renamed steps, and the pace."""

    fromVersion = Whole(
        min_value=1, max_value=HIGHEST, help_text="The version that the executions leave."
    )
    toVersion = Whole(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=HIGHEST,
        help_text="The version on which they continue; by default the latest.",
    )
    steps = serializers.DictField(
        child=Text(max_length=LONGEST_NAME),
        required=False,
        help_text="The new IDs of renamed steps, by their old places: `charge`, or `refine.draft` "
        f"within a container. At most {MOST_NAMES}.",
    )
    ids = serializers.ListField(
        child=Id(),
        required=False,
        max_length=MAX_IDS,
        help_text="Only these executions; by default all live ones on `fromVersion`, at most the "
        "100,000 oldest.",
    )
    ratePerSecond = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=0.01,
        max_value=MAX_RATE,
        help_text="Executions per second; null: as fast as possible.",
    )
    canary = Whole(
        required=False,
        default=0,
        min_value=0,
        max_value=MAX_CANARY,
        help_text="Pause after this many moved executions; 0: do not pause.",
    )
    patienceSeconds = Whole(
        required=False,
        default=300,
        min_value=0,
        max_value=MAX_PATIENCE,
        help_text="How long an execution is tried again while a worker executes one of its steps.",
    )
    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class NewMigration(MigrationOptions):
    """A migration of a workflow's live executions."""

    workflowId = Id()


def plan_of(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values for a `MigrationPlan` from a request's body."""
    plan = MigrationPlan(
        source=given["fromVersion"],
        target=given.get("toVersion"),
        names=given.get("steps", {}),
        ids=tuple(given.get("ids", ())),
        rate=given.get("ratePerSecond"),
        canary=given["canary"],
        patience_seconds=given["patienceSeconds"],
        reason=given["reason"],
    )
    return {name: getattr(plan, name) for name in plan.__slots__}


class MigrationReason(Body):
    """A reason for the audit trail."""

    reason = Text(required=False, default="", allow_blank=True, max_length=2_000)


class MigrationQuery(ListQuery):
    """The parameters of the list of migrations."""

    state = serializers.ChoiceField(MigrationState.choices, required=False)
    workflowId = Id(required=False)


class MigratedQuery(PageQuery):
    """The parameters of the list of a migration's executions."""

    state = serializers.ChoiceField(MigratedState.choices, required=False)


class MigrationShape(CamelCase, serializers.ModelSerializer[ExecutionMigration]):
    """A migration of executions, and its progress."""

    workflow_id = serializers.UUIDField()
    workspace_id = serializers.UUIDField()
    fromVersion = serializers.IntegerField(source="source.number")
    toVersion = serializers.IntegerField(source="target.number")
    steps = serializers.DictField(source="names", child=serializers.CharField())
    state = serializers.ChoiceField(MigrationState.choices)
    pause_reason = serializers.CharField(
        help_text="Why the migration paused automatically; empty if it did not."
    )
    ratePerSecond = serializers.FloatField(source="rate", allow_null=True)
    canary = serializers.IntegerField()
    patience_seconds = serializers.IntegerField()
    total = serializers.IntegerField()
    truncated = serializers.BooleanField(
        help_text="Whether there were more executions than one migration can have; create "
        "another one afterwards."
    )
    queued = serializers.IntegerField(source="left")
    moved = serializers.IntegerField()
    refused = serializers.IntegerField()
    skipped = serializers.IntegerField(
        help_text="Executions that had ended or were on another version."
    )
    reason = serializers.CharField()
    createdBy = serializers.CharField(source="created_by_name")
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = ExecutionMigration
        fields = [
            "id", "workspace_id", "workflow_id", "fromVersion", "toVersion", "steps", "state",
            "pause_reason", "ratePerSecond", "canary", "patience_seconds", "total", "truncated",
            "queued", "moved", "refused", "skipped", "reason", "createdBy", "created_at",
            "started_at", "finished_at",
        ]  # fmt: skip


class LiveVersionShape(CamelCaseSerializer):
    """The live executions of one version."""

    version = serializers.IntegerField()
    executions = serializers.IntegerField(help_text="At most 100,000 of a workflow are counted.")


class MigrationGroupShape(CamelCaseSerializer):
    """Executions that can move in the same way, or that cannot move for the same reasons."""

    verdict = serializers.ChoiceField(
        [(one.value, one.value) for one in GroupVerdict],
        help_text="MOVES: they can move. REFUSED: they cannot. BUSY: a worker executes a step; "
        "they are tried again. OVER: they have ended or left the version. UNKNOWN: "
        "there are too many kinds to decide now.",
    )
    count = serializers.IntegerField()
    at = serializers.ListField(
        child=serializers.CharField(), help_text="The steps at which the executions continue."
    )
    starts = serializers.ListField(
        child=serializers.CharField(), help_text="Steps that start at once."
    )
    reasons = serializers.ListField(child=serializers.CharField())
    executionId = serializers.UUIDField(
        source="example", help_text="The ID of one of the executions."
    )


class MigrationPreviewShape(CamelCaseSerializer):
    """The effects that a migration would have now, in groups, the largest first."""

    examined = serializers.IntegerField(help_text="Queued executions, at most 20,000.")
    moves = serializers.IntegerField()
    refused = serializers.IntegerField()
    groups = MigrationGroupShape(many=True)


class MigratedShape(CamelCase, serializers.ModelSerializer[MigratedExecution]):
    """The result of the migration for one execution."""

    execution_id = serializers.UUIDField()
    state = serializers.ChoiceField(MigratedState.choices)
    at = serializers.CharField(help_text="The steps at which the execution continued.")
    reason = serializers.CharField(
        help_text="Why the execution was not moved, or has not been moved yet."
    )
    ended_at = serializers.DateTimeField(allow_null=True)

    class Meta:
        model = MigratedExecution
        fields = ["execution_id", "state", "at", "reason", "ended_at"]
