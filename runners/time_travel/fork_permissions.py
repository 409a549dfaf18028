"""How a fork, a replay or a repair differs from its origin, as `executions.access` judges it."""

from uuid import UUID

from django.db.models import QuerySet

from executions.access import AccessChange, Action, Base, Powers, check_change
from executions.models import WorkflowExecution
from executions.states import VersionKind
from runners.time_travel.approvals import given_in
from runners.time_travel.overrides import LATEST, PINNED, Overrides


def origins() -> QuerySet[WorkflowExecution]:
    """Executions as `change_of` needs them: whose they are, and which version they ran."""
    return WorkflowExecution.objects.select_related("version", "workflow__latest_version").only(
        "id",
        "workspace_id",
        "workflow_id",
        "version__number",
        "version__kind",
        "workflow__latest_version__number",
    )


def change_of(
    origin: WorkflowExecution,
    *,
    inside: bool = False,
    version: str | int = PINNED,
    overrides: Overrides | None = None,
) -> AccessChange:
    """What a fork asks for; of a replay nothing is given. One of `origins()`: no query."""
    overrides = overrides or Overrides()
    return AccessChange(
        base=_base(origin, version),
        inside=inside,
        payload=overrides.input is not None,
        variables=bool(overrides.variables),
        steps=bool(overrides.steps),
    )


def check_repair(may: Powers, execution_id: UUID) -> None:
    """Raise Forbidden where other inputs, or a result by hand, would follow a given approval.

    Who may rewrite the workflow could leave its approvals out: authors may. One query for others.
    """
    if not may.allows(Action.AUTHOR):
        check_change(may, AccessChange(approved=bool(given_in([execution_id]))))


def _base(origin: WorkflowExecution, wanted: str | int) -> Base:
    latest = origin.workflow.latest_version
    if wanted == LATEST or (latest is not None and wanted == latest.number):
        return Base.LATEST
    ran = origin.version
    tested = ran.kind == VersionKind.TEST
    if wanted == PINNED and tested:
        return Base.TEST
    if wanted == PINNED or (wanted == ran.number and not tested):
        return Base.LATEST if latest is not None and ran.pk == latest.pk else Base.PINNED
    return Base.OTHER
