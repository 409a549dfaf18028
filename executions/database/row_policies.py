"""Row-level security: a policy for each table whose rows belong to a workspace.

A row belongs to the workspace to which its foreign key refers. Without such a key, `rows_belong_to`
or the first required foreign key that leads to a workspace decides. The policies restrict only the
role of `row_scope`; other roles are unrestricted, so the engine's statements keep their plans.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import ForeignKey, Model

from executions.configuration.labels import translated
from executions.database.routing import connection, is_ours
from executions.database.row_scope import WORKSPACES, scoped_role

EVERYBODY, RESTRICTION = "valkyr_everybody", "valkyr_workspaces"
# A sub-select, because it is evaluated once per statement, but a plain `current_setting` once per
# row.
THEIRS = f"ANY ((SELECT current_setting('{WORKSPACES}')::uuid[])::uuid[])"


@dataclass(frozen=True, slots=True)
class RowPolicy:
    """A table, and the SQL conditions for the rows that requests may see and may write."""

    table: str
    seen: str
    written: str

    @property
    def version(self) -> str:
        """Return a hash of the policy, stored as its comment, to detect outdated policies."""
        made = f"{self.seen}\n{self.written}\n{scoped_role()}"
        return hashlib.sha256(made.encode()).hexdigest()

    def statements(self) -> Iterator[str]:
        """Yield the statements that create or replace the table's policies and enable them."""
        table = _quoted(self.table)
        for name in (EVERYBODY, RESTRICTION):
            yield f"DROP POLICY IF EXISTS {name} ON {table}"
        yield f"CREATE POLICY {EVERYBODY} ON {table} USING (true) WITH CHECK (true)"
        yield (
            f"CREATE POLICY {RESTRICTION} ON {table} AS RESTRICTIVE TO {_quoted(scoped_role())}"
            f" USING ({self.seen}) WITH CHECK ({self.written})"
        )
        yield f"COMMENT ON POLICY {RESTRICTION} ON {table} IS '{self.version}'"
        yield f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"


def policies() -> list[RowPolicy]:
    """Return the policies of all tables with rows of a workspace, including those of plugins."""
    found = (policy_of(model) for model in apps.get_models() if _is_stored(model))
    return sorted((one for one in found if one is not None), key=lambda one: one.table)


def policy_of(model: type[Model]) -> RowPolicy | None:
    """Return the policy of a model's table; None if its rows belong to no workspace.

    The model's `rows_of_no_workspace` says whether requests may `read` or `write` rows without a
    workspace; by default they can do neither.
    """
    condition = _condition(model)
    if not condition:
        return None
    table = model._meta.db_table
    column = _workspace(model)
    empty = f"{_quoted(table)}.{_quoted(str(column.column))} IS NULL" if column else "false"
    allowed = getattr(model, "rows_of_no_workspace", "")
    seen, written = (
        f"{condition} OR {empty}" if allowed == what else condition for what in ("read", "write")
    )
    return RowPolicy(table, seen, written)


def _is_stored(model: type[Model]) -> bool:
    meta = model._meta
    return is_ours(model) and meta.managed and not meta.proxy


def _condition(model: type[Model]) -> str:
    """Return the SQL condition that a row belongs to one of the request's workspaces.

    Returns "" if the table's rows belong to no workspace.
    """
    table = _quoted(model._meta.db_table)
    if model is _workspace_model():
        return f"{table}.{_quoted(str(model._meta.pk.column))} = {THEIRS}"
    if column := _workspace(model):
        return f"{table}.{_quoted(str(column.column))} = {THEIRS}"
    found = [
        # The parent table's policy decides. PostgreSQL looks up the parent row by its key; with
        # EXISTS, it would read the whole parent table into a hash table, even for one page of a
        # list.
        f"(SELECT true FROM {_quoted(parent._meta.db_table)} AS above"  # noqa: S608
        f" WHERE above.{_quoted(str(parent._meta.pk.column))} = {table}.{_quoted(column)})"
        for column, parent in _parents(model)
    ]
    return " OR ".join(found)


def _parents(model: type[Model]) -> list[tuple[str, type[Model]]]:
    """Return columns and the models to which they refer.

    Each row belongs to the workspace of a row to which one of the columns refers.
    """
    declared: Sequence[tuple[str, str]] = getattr(model, "rows_belong_to", ())
    if declared:
        return [(column, apps.get_model(translated(label))) for column, label in declared]
    for field in model._meta.concrete_fields:
        if isinstance(field, ForeignKey) and not field.null and _leads(field):
            return [(str(field.column), field.related_model)]
    return []


def _leads(field: "ForeignKey[Any, Any]") -> bool:
    """Return whether a foreign key refers to another Valkyr model with rows of a workspace."""
    model: Any = field.related_model
    return is_ours(model) and model is not field.model and bool(_condition(model))


def _workspace(model: type[Model]) -> Any:
    """Return the model's foreign key to the workspace; None if it has none."""
    for field in model._meta.concrete_fields:
        if isinstance(field, ForeignKey) and field.related_model is _workspace_model():
            return field
    return None


def _workspace_model() -> type[Model]:
    found = (one for one in apps.get_models() if one.__module__.startswith("executions.models"))
    return next(one for one in found if one.__name__ == "Workspace")


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
