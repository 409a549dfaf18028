"""The plan of a migration (versions, renamed tasks, rate and canary), and its checks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q, QuerySet

from executions.public.database import soon
from executions.public.definitions import DefinitionProblem
from executions.public.errors import NotFound, WithProblems
from executions.public.models import (
    ACTIVE,
    ExecutionState,
    VersionKind,
    Workflow,
    WorkflowExecution,
    WorkflowVersion,
)
from runners.public.version_changes import VersionMove, name_problems
from valkyr_plugins.version_migration import statements

MOST = 100_000  # maximum executions of one migration
MOST_NAMES = 500
MAX_RATE = 1_000
MAX_CANARY = 10_000
MAX_PATIENCE = 7 * 24 * 3_600
LIVE = Q(state__in=[*sorted(ACTIVE), str(ExecutionState.PENDING)], finished_at=None)


class InvalidMigration(WithProblems):
    """The plan of the migration is not valid."""

    code = "invalid_migration"


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The plan of a migration.

    `target` is the latest version by default. `names` maps renamed tasks, such as `charge` or
    `refine.draft`, to their new IDs. `ids` limits the migration to these executions. `rate` is in
    moves per second; None means as fast as possible. After `canary` moves, the migration pauses
    once. An execution that is locked or has a running step is tried again for `patience_seconds`.
    """

    source: int
    target: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    ids: tuple[UUID, ...] = ()
    rate: float | None = None
    canary: int = 0
    patience_seconds: int = 300
    reason: str = ""


def versions(workflow: Workflow, plan: MigrationPlan) -> tuple[WorkflowVersion, WorkflowVersion]:
    """Return the source and target versions of a plan. Raises NotFound or InvalidMigration."""
    source = _version(workflow, plan.source)
    if plan.target is not None:
        target = _version(workflow, plan.target)
    elif workflow.latest_version_id is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version.")
    else:
        target = WorkflowVersion.objects.defer("source").get(pk=workflow.latest_version_id)
    problems = []
    if target.pk == source.pk:
        text = f"The executions are on version {source.number} already. Name another version."
        problems.append(DefinitionProblem("to", "same_version", text))
    if target.withdrawn_at is not None:
        text = f"Version {target.number} was withdrawn. Name a version that was not."
        problems.append(DefinitionProblem("to", "withdrawn", text))
    if not problems:
        problems = _names(source, target, plan.names)
    if problems:
        raise InvalidMigration("The migration's plan is not valid.", problems)
    return source, target


def live_on(version: WorkflowVersion) -> QuerySet[WorkflowExecution]:
    """Return the live executions of a version, the oldest first."""
    rows = WorkflowExecution.objects.filter(
        LIVE, workspace_id=version.workflow.workspace_id, version_id=version.pk
    )
    return rows.filter(workflow_id=version.workflow_id).order_by("pk")


def live_versions(workflow: Workflow) -> list[tuple[int, int]]:
    """Return the published versions with live executions as (number, count), newest first.

    Return [] if counting takes too long. At most `MOST` executions are counted.
    """
    asked = {"workspace": workflow.workspace_id, "workflow": workflow.pk, "most": MOST}
    return soon(lambda: statements.fetch("live_versions", asked)) or []


def _version(workflow: Workflow, number: int) -> WorkflowVersion:
    rows = WorkflowVersion.objects.filter(workflow=workflow, kind=VersionKind.PUBLISHED)
    found = rows.select_related("workflow").defer("source").filter(number=number).first()
    if found is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version {number}.")
    return found


def _names(
    source: WorkflowVersion, target: WorkflowVersion, names: Mapping[str, str]
) -> list[DefinitionProblem]:
    if len(names) > MOST_NAMES:
        text = f"Expected at most {MOST_NAMES} renamed steps, found {len(names)}."
        return [DefinitionProblem("steps", "too_many", text)]
    change = VersionMove(source.pk, target.pk, dict(names)).change
    return [
        DefinitionProblem(f"steps.{place}"[:500], "unknown_step", reason)
        for place, reason in name_problems(change)
    ]
