"""Bring the stored payloads of a workspace into its present state: sealed with its key, or open.

The walk reads rows in the order of their ids, a batch at a time, without locks. It writes each row
that must change by a statement of its own, only if nobody wrote the row since it was read. So it
never waits for the engine while it holds a lock. Its progress is stored after each batch: a walk
that was stopped goes on where it was.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import Model, Q, TextField
from django.db.models.expressions import RawSQL

from executions.errors import NotFound
from executions.models import PayloadKey
from executions.sealing import SealBroken, payload_keys
from executions.sealing.columns import OPENERS, reform
from executions.sealing.payloads import keys_in

BATCH = 200
# A row that the engine writes at the same moment is read again.
TRIES = 5


@dataclass(slots=True)
class WalkResult:
    """The rows read so far, those that were changed (or have to be), and those that do not open."""

    table: str = ""
    read: int = 0
    changed: int = 0
    broken: int = 0


Tell = Callable[[WalkResult], None]


def walk(workspace_id: UUID, *, tell: Tell | None = None, only_look: bool = False) -> WalkResult:
    """Seal or open every stored payload of the workspace; call `tell` after each batch.

    With `only_look`, rows are counted and not changed. Rows that do not open stay as they are.
    Raises NotFound if the workspace never sealed payloads, and the errors of `unseal`.
    """
    newest = payload_keys.newest(workspace_id)
    if newest is None:
        raise NotFound("The workspace has never sealed its payloads.")
    key = payload_keys.current(workspace_id)
    found = WalkResult()
    for model in sealed_models():
        found.table = model._meta.label
        for rows, last in _batches(model, workspace_id, _mark(newest, model, only_look=only_look)):
            for row in rows:
                _visit(model, row, key, found, only_look=only_look)
            if not only_look:
                _store(newest, model, str(last))
            if tell is not None:
                tell(found)
    if not only_look:
        PayloadKey.objects.filter(pk=newest.pk).update(marks={})
    return found


def sealed_models() -> list[type[Model]]:
    """Return the models with sealed columns whose rows are kept, in a fixed order."""
    found = [
        model
        for model in apps.get_models()
        if not model._meta.proxy and hasattr(model, "SEALED_BY")
    ]
    return sorted(found, key=lambda model: model._meta.label)


def _batches(
    model: type[Model], workspace_id: UUID, after: str | None
) -> Iterator[tuple[list[Any], Any]]:
    forms = _forms(model)
    where = _rows_of(model, workspace_id)
    while True:
        rows = _with_version(model).filter(where).order_by("pk")
        if after is not None:
            rows = rows.filter(pk__gt=after)
        batch = list(rows.only("pk", *_bound_by(model), *forms)[:BATCH])
        if not batch:
            return
        after = batch[-1].pk
        yield batch, after


def _rows_of(model: Any, workspace_id: UUID) -> Q:
    if hasattr(model, "sealed_rows"):
        found: Q = model.sealed_rows(workspace_id)
        return found
    return Q(**{model.SEALED_BY: workspace_id})


def _visit(
    model: type[Model], row: Any, key: int | None, found: WalkResult, *, only_look: bool
) -> None:
    """Seal or open one row's columns, again if it changed meanwhile."""
    found.read += 1
    for _ in range(TRIES):
        stale = [
            name
            for name, form in _forms(model).items()
            if keys_in(form, row.__dict__[name]) - {key}
        ]
        if not stale:
            return
        try:
            changes = {name: _changed(row, name, key) for name in stale}
        except SealBroken:
            found.broken += 1
            return
        if only_look:
            found.changed += 1
            return
        same = _with_version(model).filter(pk=row.pk, row_version=row.row_version)
        if same.update(**changes):
            found.changed += 1
            return
        row = _with_version(model).filter(pk=row.pk).first()
        if row is None:
            return


def _changed(row: Any, name: str, key: int | None) -> Any:
    form, where = _forms(type(row))[name], row.sealed_place(name)
    return reform(form, OPENERS[form](row.__dict__[name], where), where, key)


def _forms(model: type[Model]) -> dict[str, str]:
    """Return the sealed columns of a model, and how each is sealed."""
    return {
        field.attname: field.form for field in model._meta.concrete_fields if hasattr(field, "form")
    }


def _bound_by(model: type[Model]) -> list[str]:
    """Return the columns that `sealed_place` reads."""
    names = {field.attname for field in model._meta.concrete_fields}
    return sorted(names & {"execution_id", "key", "run_id", "step_path"})


def _with_version(model: type[Model]) -> Any:
    table = model._meta.db_table
    version = RawSQL(f'"{table}".xmin::text', [], output_field=TextField())  # noqa: S611 - a name
    return model._default_manager.annotate(row_version=version)


def _mark(newest: PayloadKey, model: type[Model], *, only_look: bool) -> str | None:
    return None if only_look else newest.marks.get(model._meta.label)


def _store(newest: PayloadKey, model: type[Model], last: str) -> None:
    newest.marks[model._meta.label] = last
    PayloadKey.objects.filter(pk=newest.pk).update(marks=newest.marks)
