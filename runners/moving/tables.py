"""The tables with rows of a workspace, found through the foreign keys of the models.

The rows of ended executions (`EXECUTION`) are copied while the workspace runs. The rows of live
executions, and the tables that are copied as a whole (`WHOLE`), are copied during the pause. A
model sets `when_moved` if its rows are copied after the pause (`late`, or `kept`: the originals are
kept too), or not at all (`never`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from django.apps import apps
from django.db.models import ForeignKey, Model

from executions.database.routing import GLOBAL, is_ours
from executions.models import WorkflowExecution, Workspace


class MoveKind(StrEnum):
    """When the rows of a table are copied."""

    EXECUTION = "execution"
    WHOLE = "whole"
    LATE = "late"
    KEPT = "kept"


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table that moves; conditions are SQL about a row `t`, with `%(workspace)s`.

    `key` is the column with the execution's ID, in tables of the kind `EXECUTION`. `depth` counts
    the foreign keys between a row and its workspace. `renewed` columns get other values in the
    target.
    """

    model: type[Model]
    kind: MoveKind
    key: str
    condition: str
    depth: int
    renewed: frozenset[str]

    @property
    def name(self) -> str:
        """Return the table's name."""
        return self.model._meta.db_table

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns except generated ones."""
        fields = self.model._meta.concrete_fields
        return tuple(str(one.column) for one in fields if one.column and not _generated(one))

    @property
    def outside(self) -> Iterator[Any]:
        """Yield the foreign keys to models outside Valkyr: accounts, groups and permissions."""
        fields: Any = self.model._meta.concrete_fields
        for one in fields:
            if isinstance(one, ForeignKey) and _is_checked(one) and not is_ours(one.related_model):
                yield one

    @property
    def paused(self) -> str:
        """Return `condition`; for `EXECUTION` tables, one that only live executions' rows match."""
        if self.kind is not MoveKind.EXECUTION:
            return self.condition
        return (
            f"t.{self.key} IN (SELECT x.id FROM {WorkflowExecution._meta.db_table} x"
            " WHERE x.workspace_id = %(workspace)s AND x.finished_at IS NULL"
            " AND x.state IN ('PENDING', 'RUNNING', 'PAUSED'))"
        )


@cache
def tables() -> tuple[MovedTable, ...]:
    """Return all tables that move, the workspace's own first."""
    found = [_table(model) for model in apps.get_models(include_auto_created=True)]
    return tuple(sorted((one for one in found if one), key=lambda one: (one.depth, one.name)))


def of_kind(*kinds: MoveKind) -> list[MovedTable]:
    """Return the tables of these kinds."""
    return [one for one in tables() if one.kind in kinds]


def workspace_of(model: type[Model], row: str, depth: int = 0) -> str:
    """Return SQL for the ID of a row's workspace; null if an intermediate row is missing."""
    if model is Workspace:
        return f"{row}.id"
    column = _direct(model) or _parent(model)
    assert column is not None
    if column.related_model is Workspace:
        return f"{row}.{column.column}"
    above: Any = column.related_model
    inner = workspace_of(above, f"p{depth}", depth + 1)
    return (
        f"(SELECT {inner} FROM {above._meta.db_table} p{depth}"
        f" WHERE p{depth}.{above._meta.pk.column} = {row}.{column.column})"
    )


def _table(model: type[Model]) -> MovedTable | None:
    meta = model._meta
    if not is_ours(model) or meta.proxy or not meta.managed or getattr(model, GLOBAL, False):
        return None
    given = getattr(model, "when_moved", "")
    if given == "never" or not _leads(model):
        return None
    execution = "" if given else _of_execution(model)
    kind = MoveKind(given) if given else (MoveKind.EXECUTION if execution else MoveKind.WHOLE)
    renewed = frozenset(getattr(model, "renewed_columns", ())) | _renewed(model)
    return MovedTable(model, kind, execution, _belongs(model, "t"), _depth(model), renewed)


def _belongs(model: type[Model], row: str, depth: int = 0) -> str:
    """Return the condition for the rows of the workspace.

    A row does not move if it names the workspace but needs a row of the whole installation: for
    example, an alert message of a rule for all workspaces.
    """
    if model is Workspace:
        return f"{row}.id = %(workspace)s"
    direct = _direct(model)
    if direct is None:
        column = _parent(model)
        assert column is not None
        return _within(column, row, depth)
    needed = [
        _within(one, row, depth)
        for one in _foreign(model)
        if not one.null and (of := _direct(one.related_model)) is not None and of.null
    ]
    return " AND ".join([f"{row}.{direct.column} = %(workspace)s", *needed])


def _within(column: Any, row: str, depth: int) -> str:
    above = column.related_model
    inner = _belongs(above, f"p{depth}", depth + 1)
    key = above._meta.pk.column
    return (
        f"{row}.{column.column} IN"
        f" (SELECT p{depth}.{key} FROM {above._meta.db_table} p{depth} WHERE {inner})"
    )


def _of_execution(model: type[Model]) -> str:
    """Return the column that has the execution's ID in each row; "" if there is none."""
    if model is WorkflowExecution:
        return "id"
    found = (one for one in _foreign(model) if one.related_model is WorkflowExecution)
    return next((str(one.column) for one in found if not one.null), "")


def _foreign(model: Any) -> Iterator[Any]:
    for one in model._meta.concrete_fields:
        if isinstance(one, ForeignKey) and is_ours(one.related_model):
            yield one


def _direct(model: Any) -> Any:
    return next((one for one in _foreign(model) if one.related_model is Workspace), None)


def _parent(model: type[Model]) -> Any:
    """Return the first foreign key that is never null and leads to a workspace, or None."""
    found = (one for one in _foreign(model) if not one.null and one.related_model is not model)
    return next((one for one in found if _leads(one.related_model)), None)


def _leads(model: Any) -> bool:
    return model is Workspace or _direct(model) is not None or _parent(model) is not None


def _depth(model: Any) -> int:
    if model is Workspace:
        return 0
    return 1 if _direct(model) is not None else 1 + _depth(_parent(model).related_model)


def _renewed(model: type[Model]) -> frozenset[str]:
    """Return the columns that get other values in the target: `permission_id` or `tier_id`."""
    names = {"permission_id"} if model is not Workspace else {"tier_id"}
    return frozenset(names & {one.column for one in model._meta.concrete_fields})


def _generated(field: Any) -> bool:
    return bool(getattr(field, "generated", False))


def _is_checked(field: Any) -> bool:
    return bool(field.db_constraint)
