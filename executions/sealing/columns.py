"""Seal and open the columns of rows that the ORM writes and reads.

`models.sealed_columns` defines these columns.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from executions import ports
from executions.sealing import payload_keys, payloads

OPENERS: dict[str, Callable[[Any, str], Any]] = {
    "json": payloads.open_json,
    "text": payloads.open_text,
    "each": payloads.open_each,
    "blank": lambda value, where: value,
    "facts": payloads.open_each,
    "lines": payloads.open_lines,
}
SEALERS = {
    "json": payloads.seal_json,
    "each": payloads.seal_each,
    "facts": payloads.seal_facts,
    "lines": payloads.seal_lines,
}


def connect() -> None:
    """Provide the functions with which models open and seal their columns."""
    ports.open_payload.provide(opened)
    ports.seal_payload.provide(sealed)


def opened(row: Any, column: str, form: str, value: Any) -> Any:
    """Return a column's value, opened if it is sealed. Raises SealBroken."""
    if form in ("json", "text") and not payloads.is_sealed(value):
        return value
    return OPENERS[form](value, row.sealed_place(column))


def sealed(row: Any, column: str, form: str, value: Any) -> Any:
    """Return a column's value for storage, sealed if the row's workspace has a current key.

    Reads the ID of the key at most once for each row.
    """
    key = _key(row)
    if key is None:
        return value
    return reform(form, value, row.sealed_place(column), key)


def reform(form: str, value: Any, where: str, key: int | None) -> Any:
    """Return an opened value in its stored form, sealed with `key`; unchanged without a key."""
    if key is None or value is None:
        return value
    if form == "blank":
        return ""
    if form == "text":
        return payloads.seal_text(value, where, key)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return json.loads(SEALERS[form](text, where, key))


def stored(row: Any, **changes: Any) -> dict[str, Any]:
    """Return a row's changes for `QuerySet.update`, with sealed columns in their stored form."""
    forms = {name: getattr(row._meta.get_field(name), "form", "") for name in changes}
    return {
        name: sealed(row, name, forms[name], value) if forms[name] and value else value
        for name, value in changes.items()
    }


def rebind(row: Any, places: Mapping[str, str]) -> bool:
    """Bind sealed values to the row into which they were copied, and save the row.

    `places` has each column's old binding. Returns whether a value was sealed. Raises SealBroken.
    """
    changed = []
    for column, where in places.items():
        form, value = row._meta.get_field(column).form, row.__dict__[column]
        opened = OPENERS[form](value, where) if value else value
        if opened is not value:
            setattr(row, column, opened)
            changed.append(column)
    if changed:
        row.save(update_fields=changed)
    return bool(changed)


def seals(row: Any) -> bool:
    """Return whether the row's workspace seals its payloads. Uses at most one query per row."""
    return _key(row) is not None


def share_key(rows: Sequence[Any]) -> None:
    """Read the key's ID once for new rows of one workspace, before they are saved together."""
    key = _key(rows[0]) if rows else None
    for row in rows:
        row._state.sealing_key = key


def _key(row: Any) -> int | None:
    state = row._state
    if not hasattr(state, "sealing_key"):
        state.sealing_key = payload_keys.current(row.sealed_workspace())
    found: int | None = state.sealing_key
    return found
