"""Users' operations on migrations, for the pages and the API."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any
from uuid import UUID

from django.utils.translation import gettext

from executions.public.access import Action, Actor, Operation
from executions.public.models import Workflow
from valkyr_plugins.version_migration import lifecycle
from valkyr_plugins.version_migration.models import MOVES, ExecutionMigration, MigrationState
from valkyr_plugins.version_migration.plan import MigrationPlan

Data = Mapping[str, Any]
TEXTS = (
    "source__source", "source__definition", "target__source", "target__definition",
    "workflow__definition",
)  # fmt: skip


PLANNED = tuple(one.name for one in fields(MigrationPlan))


def _make(pk: UUID, actor: Actor, data: Data) -> ExecutionMigration:
    workflow = Workflow.objects.defer("definition").get(pk=pk)
    plan = MigrationPlan(**{name: data[name] for name in PLANNED if name in data})
    return lifecycle.make(workflow, plan, actor=actor)


def _moving(
    move: Callable[..., ExecutionMigration],
) -> Callable[[UUID, Actor, Data], ExecutionMigration]:
    return lambda pk, actor, data: move(pk, actor=actor, reason=data.get("reason", ""))


def _unless(target: MigrationState, *, only: MigrationState | None = None) -> Callable[[Any], str]:
    """Return a check that rejects migrations that cannot move to `target`.

    With `only`, the check also rejects migrations in any state other than `only`.
    """

    def refuse(row: ExecutionMigration) -> str:
        if target in MOVES[row.state] and only in (None, row.state):
            return ""
        return gettext("Not available: this migration is {label}.").format(
            label=MigrationState(row.state).label
        )

    return refuse


def _refuse_unpublished(row: Workflow) -> str:
    return "" if row.latest_version_id else gettext("Publish the workflow first.")


S = MigrationState
MAKE = Operation(name="migrate", apply=_make, needs=Action.AUTHOR, refuse=_refuse_unpublished)
START = Operation(
    name="start",
    apply=_moving(lifecycle.start),
    needs=Action.AUTHOR,
    refuse=_unless(S.RUNNING, only=S.DRAFT),
)
RESUME = Operation(
    name="resume",
    apply=_moving(lifecycle.resume),
    needs=Action.AUTHOR,
    refuse=_unless(S.RUNNING, only=S.PAUSED),
)
PAUSE = Operation(
    name="pause",
    apply=_moving(lifecycle.pause),
    needs=Action.OPERATE,
    refuse=_unless(S.PAUSED),
)
CANCEL = Operation(
    name="cancel",
    apply=_moving(lifecycle.cancel),
    needs=Action.OPERATE,
    refuse=_unless(S.CANCELLED),
)
