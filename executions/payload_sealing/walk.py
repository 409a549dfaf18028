"""Seal a workspace's stored payloads with its current key; if it has none, unseal them.

The walk reads rows in the order of their IDs, a batch at a time, without locks. It writes the
changed rows of a batch together, except rows that the engine has locked or written since they were
read. It reads and writes such rows one by one, and locks a row only if it was changed in between
several times. So it never waits for the engine while it holds a lock. Its progress is stored after
each batch: a walk that was stopped continues where it stopped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import F, Func, IntegerField, JSONField, Model, Q, TextField, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from executions.database import connection, transaction
from executions.errors import NotFound
from executions.models import PayloadKey
from executions.sealing import SealBroken, payload_keys
from executions.sealing.columns import OPENERS, reform
from executions.sealing.payloads import keys_in

BATCH = 500
# A batch ends with the row that exceeds this many bytes, as PostgreSQL stores them: a row may have
# several payloads of some MiB, and 500 of these would not fit into memory.
MOST_READ = 8_000_000
# At most this many characters are written in one statement, unless a single row is larger. The
# engine waits for the statement's locks, so a statement must be short.
MOST_WRITTEN = 4_000_000
# Number of attempts for a row that the engine changes at the same moment; the last attempt locks
# it.
TRIES = 5


@dataclass(slots=True)
class WalkResult:
    """The numbers of rows that were read, that changed (or would change), and that do not open."""

    table: str = ""
    read: int = 0
    changed: int = 0
    broken: int = 0


Tell = Callable[[WalkResult], None]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A row as it was read, and the new text of each column that must change."""

    row: Any
    texts: dict[str, str]

    @property
    def size(self) -> int:
        """Return the number of characters that must be written."""
        return sum(map(len, self.texts.values()))


def walk(workspace_id: UUID, *, tell: Tell | None = None, only_look: bool = False) -> WalkResult:
    """Seal or open every stored payload of the workspace, and return the counts.

    `tell` is called after each batch. With `only_look`, rows are counted but not changed. Rows that
    cannot be opened are not changed. Raises NotFound if the workspace has no payload key, and the
    errors of `unseal`.
    """
    newest = payload_keys.newest(workspace_id)
    if newest is None:
        raise NotFound(
            "The workspace has no payload keys: its payloads are stored in the clear, and no row "
            "has to change."
        )
    key = payload_keys.current(workspace_id)
    found = WalkResult()
    for model in sealed_models():
        found.table = model._meta.label
        for rows, last in _batches(model, workspace_id, _mark(newest, model, only_look=only_look)):
            rewrites = [_rewrite(row, key, found) for row in rows]
            found.read += len(rows)
            due = [one for one in rewrites if one is not None]
            if only_look:
                found.changed += len(due)
            else:
                for part in _parts(due):
                    _write(model, part, key, found)
                _store(newest, model, str(last))
            if tell is not None:
                tell(found)
    if not only_look:
        PayloadKey.objects.filter(pk=newest.pk).update(marks={})
    return found


def sealed_models() -> list[type[Model]]:
    """Return the models with sealed columns, sorted by label."""
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
        last = _last(rows, forms)
        if last is None:
            return
        after = last
        yield list(rows.filter(pk__lte=last).only("pk", *_bound_by(model), *forms)), after


def _last(rows: Any, forms: Iterable[str]) -> Any:
    """Return the ID of the last row of the next batch; None if there is none."""
    sizes = [
        Coalesce(Func(F(name), function="pg_column_size", output_field=IntegerField()), 0)
        for name in forms
    ]
    read, last = 0, None
    for pk, size in rows.annotate(bytes=sum(sizes, Value(0))).values_list("pk", "bytes")[:BATCH]:
        read, last = read + size, pk
        if read > MOST_READ:
            break
    return last


def _rows_of(model: Any, workspace_id: UUID) -> Q:
    if hasattr(model, "sealed_rows"):
        found: Q = model.sealed_rows(workspace_id)
        return found
    return Q(**{model.SEALED_BY: workspace_id})


def _rewrite(row: Any, key: int | None, found: WalkResult) -> Rewrite | None:
    """Return the changes to a row; None if it needs none, or if it cannot be opened."""
    forms = _forms(type(row))
    stale = [name for name, form in forms.items() if keys_in(form, row.__dict__[name]) - {key}]
    if not stale:
        return None
    try:
        return Rewrite(row, {name: _changed(row, name, key) for name in stale})
    except SealBroken:
        found.broken += 1
        return None


def _parts(rewrites: Sequence[Rewrite]) -> Iterator[list[Rewrite]]:
    """Yield the rows in parts, each small enough for one statement."""
    part: list[Rewrite] = []
    size = 0
    for one in rewrites:
        if part and size + one.size > MOST_WRITTEN:
            yield part
            part, size = [], 0
        part.append(one)
        size += one.size
    if part:
        yield part


def _write(
    model: type[Model], rewrites: Sequence[Rewrite], key: int | None, found: WalkResult
) -> None:
    """Write rows in one statement; then write, one by one, those that were locked or changed."""
    written = _written(model, rewrites)
    found.changed += len(written)
    for one in rewrites:
        if one.row.pk not in written:
            _write_alone(model, one.row.pk, key, found)


def _write_alone(model: type[Model], pk: Any, key: int | None, found: WalkResult) -> None:
    """Read and write one row; repeat both if the row was changed in between."""
    if not any(_tried(_with_version(model).filter(pk=pk), key, found) for _ in range(TRIES)):
        with transaction.atomic():
            locked = _with_version(model).select_for_update(no_key=True, of=("self",))
            _tried(locked.filter(pk=pk), key, found)


def _tried(rows: Any, key: int | None, found: WalkResult) -> bool:
    """Read and write the only row of a query; return False if it was changed in between."""
    row = rows.first()
    one = None if row is None else _rewrite(row, key, found)
    if one is None:
        return True
    written = bool(_written(type(row), [one], waits=True))
    found.changed += written
    return written


def _written(model: type[Model], rewrites: Sequence[Rewrite], *, waits: bool = False) -> set[Any]:
    """Write the rows that have not changed since they were read, and return their IDs.

    Skips rows that other transactions have locked, unless `waits` is set.
    """
    changed = sorted({name for one in rewrites for name in one.texts})
    fields: list[Any] = [model._meta.get_field(name) for name in changed]
    quoted: Any = connection.ops.quote_name
    pk: Any = model._meta.pk
    table = quoted(model._meta.db_table)
    sets = ", ".join(
        f"{quoted(f.column)} = COALESCE(r.{quoted(f.column)}, t.{quoted(f.column)})" for f in fields
    )
    names = ", ".join(quoted(field.column) for field in fields)
    arrays = "".join(
        f", %s::text[]{'::jsonb[]' if isinstance(field, JSONField) else ''}" for field in fields
    )
    statement = f"""
        WITH r (valkyr_id, valkyr_version, {names}) AS MATERIALIZED (
            SELECT * FROM unnest(%s::{pk.rel_db_type(connection)}[], %s::text[]{arrays})
        ), held AS MATERIALIZED (
            SELECT t.{quoted(pk.column)} AS id
              FROM {table} t JOIN r ON t.{quoted(pk.column)} = r.valkyr_id
             WHERE t.xmin::text = r.valkyr_version
               FOR NO KEY UPDATE OF t {"" if waits else "SKIP LOCKED"}
        )
        UPDATE {table} t SET {sets} FROM r JOIN held ON held.id = r.valkyr_id
         WHERE t.{quoted(pk.column)} = r.valkyr_id
        RETURNING r.valkyr_id"""  # noqa: S608 - names of our models
    params = [
        [one.row.pk for one in rewrites],
        [one.row.row_version for one in rewrites],
        *([one.texts.get(name) for one in rewrites] for name in changed),
    ]
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return {found for (found,) in cursor.fetchall()}


def _changed(row: Any, name: str, key: int | None) -> str:
    """Return a column's value in its new state, as text."""
    form, where = _forms(type(row))[name], row.sealed_place(name)
    value = reform(form, OPENERS[form](row.__dict__[name], where), where, key)
    return json.dumps(value) if isinstance(row._meta.get_field(name), JSONField) else str(value)


def _forms(model: type[Model]) -> dict[str, str]:
    """Return a model's sealed columns, each with the form in which it is sealed."""
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
