"""How a fork or a replay differs from its origin, as `executions.access` judges it."""

from django.db.models import QuerySet

from executions.public.access import AccessChange, Base
from executions.public.models import VersionKind, WorkflowExecution
from runners.public.forks import LATEST, PINNED, Overrides


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
