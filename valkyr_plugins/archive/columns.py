"""Convert rows of the engine's tables to columns of Parquet, and back.

An execution is one row, with its runs and dead letters as lists. JSON columns keep the text that
PostgreSQL returns, so sealed values stay sealed. The columns are derived from the models, so they
change with the models.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models.functions import Cast

from dlq.public.models import DeadLetterEntry
from executions.public.database import alias
from executions.public.models import WorkflowExecution
from executions.public.sealing import ENVELOPE, SEALED
from runners.public.models import Run

Row = dict[str, Any]
# The beginning of a sealed value in a JSON or text column, with the number of its key.
SEALED_WITH = re.compile(rf'(?:"{re.escape(SEALED)}"\s*:\s*"|{re.escape(ENVELOPE)})(\d+)\.')
# Facts about the execution's workspace, workflow and version, which may be deleted later.
BESIDES = {
    "workspace_slug": "workspace__slug",
    "workflow_slug": "workflow__slug",
    "version_number": "version__number",
    "version_kind": "version__kind",
}


def fields(model: type[models.Model]) -> dict[str, Any]:
    """Return a model's stored fields, keyed by attribute name.

    A foreign key is replaced by the field to which it refers.
    """
    return {one.attname: _plain(one) for one in model._meta.concrete_fields}


def read(model: type[models.Model], **wanted: Any) -> Iterator[Row]:
    """Yield the model's rows that match `wanted`, in stored form; sealed values stay sealed."""
    kinds = fields(model)
    besides = BESIDES if model is WorkflowExecution else {}
    chosen = [
        Cast(models.F(name), models.TextField()) if _is_json(kind) else models.F(name)
        for name, kind in kinds.items()
    ]
    rows = model._default_manager.filter(**wanted).order_by("pk")
    names = [*kinds, *besides]
    for values in rows.values_list(*chosen, *besides.values()).iterator(chunk_size=1_000):
        yield dict(zip(names, values, strict=True))


def schema() -> Any:
    """Return the schema of an archive file: executions, with their runs and dead letters."""
    import pyarrow as pa

    own = _struct(WorkflowExecution)
    own += [("workspace_slug", pa.string()), ("workflow_slug", pa.string())]
    own += [("version_number", pa.int64()), ("version_kind", pa.string())]
    own += [(name, pa.list_(pa.struct(_struct(model)))) for name, model in PARTS.items()]
    return pa.schema(own)


PARTS: Mapping[str, type[models.Model]] = {"runs": Run, "dead_letters": DeadLetterEntry}


def to_parquet(row: Row) -> Row:
    """Return a row whose values have the types of the schema."""
    return {name: str(value) if isinstance(value, UUID) else value for name, value in row.items()}


def to_json(row: Row) -> Row:
    """Return a row with values that JSON can hold; `of_json` converts it back."""
    return {
        name: value.isoformat() if isinstance(value, datetime) else _text(value)
        for name, value in row.items()
    }


def of_json(row: Row, model: type[models.Model]) -> Row:
    """Convert a row from `to_json` to the types of the schema."""
    kinds = fields(model)
    return {name: _in(value, kinds[name]) for name, value in row.items() if name in kinds}


def instance(row: Row, model: type[models.Model]) -> Any:
    """Return the row as an unsaved instance of the model; sealed values are opened when read."""
    kinds = fields(model)
    known = {name: value for name, value in row.items() if name in kinds}
    values = [
        json.loads(value)
        if value is not None and _is_json(kinds[name])
        else _in(value, kinds[name])
        for name, value in known.items()
    ]
    return model.from_db(alias(), list(known), values)


def insertable(rows: Iterable[Row], model: type[models.Model]) -> tuple[list[str], list[list[Any]]]:
    """Return the columns and values that insert the rows exactly as they were stored."""
    kinds = fields(model)
    found = list(rows)
    names = [name for name in kinds if found and name in found[0]]
    return names, [[_text(row[name]) for name in names] for row in found]


def _struct(model: type[models.Model]) -> list[tuple[str, Any]]:
    return [(name, _arrow(kind)) for name, kind in fields(model).items()]


def _arrow(kind: Any) -> Any:
    import pyarrow as pa

    if isinstance(kind, models.DateTimeField):
        return pa.timestamp("us", tz="UTC")
    if isinstance(kind, models.DecimalField):
        return pa.decimal128(kind.max_digits, kind.decimal_places)
    if isinstance(kind, models.FloatField):
        return pa.float64()
    if isinstance(kind, models.BooleanField):
        return pa.bool_()
    if isinstance(kind, models.IntegerField):
        return pa.int64()
    return pa.string()


def _is_json(kind: Any) -> bool:
    return isinstance(kind, models.JSONField)


def _plain(field: Any) -> Any:
    while getattr(field, "remote_field", None) is not None:
        field = field.target_field
    return field


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, UUID | Decimal) else value


def _in(value: Any, kind: Any) -> Any:
    if value is None:
        return None
    if isinstance(kind, models.UUIDField):
        return UUID(str(value))
    if isinstance(kind, models.DateTimeField) and isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(UTC)
    if isinstance(kind, models.DecimalField):
        return Decimal(value)
    return value


def keys_in(row: Row) -> set[int]:
    """Return the IDs of the keys that seal values of a row, or of the rows in it.

    Text that only looks like a sealed value is included, so some keys are kept longer than
    necessary.
    """
    found: set[int] = set()
    for value in row.values():
        if isinstance(value, str):
            found.update(map(int, SEALED_WITH.findall(value)))
        elif isinstance(value, list):
            found.update(*map(keys_in, value))
    return found


def readable(made: Any) -> Row:
    """Return a row's values, keyed by column, with sealed values opened."""
    return {one.attname: getattr(made, one.attname) for one in made._meta.concrete_fields}
