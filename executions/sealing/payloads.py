"""Seal payloads: inputs, outputs, variables, errors and logs of one workspace.

A sealed value is an envelope, `{"$sealed": "<key>.<base64>"}` in a JSON column and
`$sealed:<key>.<base64>` in a text column. It is encrypted with AES-256-GCM and a key of the
workspace (`payload_keys`), and bound to the workspace and a place, such as an execution, a step and
a column. It cannot be opened anywhere else.

Each variable is sealed separately, so that SQL can merge variables. Sealed logs are a list of
envelopes, each over a list of lines, so that SQL can append to them.
"""

import base64
import binascii
import json
import re
from collections.abc import Container
from typing import Any
from uuid import UUID

from executions.payloads import SEALED
from executions.sealing import payload_keys
from executions.sealing.errors import SealBroken

TEXT = f"{SEALED}:"
# Keys of a wait's data that may contain payloads; its other data are states, times, names and
# counters.
PRIVATE = frozenset({"comment", "description", "error", "input", "output", "payload", "title"})
# The key of a log line's text.
MESSAGE = "message"
# The key ID of a context whose workspace has not been read yet.
UNKNOWN = -1
_FORM = re.compile(r"[0-9]{1,18}\.[A-Za-z0-9+/]+={0,2}")


def place(execution_id: UUID | str, column: str, step_path: str = "") -> str:
    """Return the text to which an envelope is bound: execution, step or run (or "") and column."""
    return f"{execution_id}|{step_path}|{column}"


def is_sealed(value: Any) -> bool:
    """Return whether a value of a JSON or text column is an envelope."""
    if isinstance(value, str):
        return value.startswith(TEXT)
    return isinstance(value, dict) and isinstance(value.get(SEALED), str)


def key_of(value: Any) -> int | None:
    """Return the ID of the key that seals an envelope or a log line; None for an unsealed value."""
    if isinstance(value, dict) and SEALED not in value:
        value = value.get(MESSAGE)
    if not is_sealed(value):
        return None
    head, _, _ = _body(value).partition(".")
    return int(head) if head.isdecimal() else None


def seal_json(text: str, where: str, key: int | None) -> str:
    """Return the envelope of a JSON text; without a key, or for null, return the text itself."""
    if key is None or text == "null":
        return text
    return f'{{"{SEALED}":"{_sealed(text, where, key)}"}}'


def seal_text(text: str, where: str, key: int | None) -> str:
    """Return the envelope of a string, or the string itself if it is empty or `key` is None."""
    return text if key is None or not text else f"{TEXT}{_sealed(text, where, key)}"


def seal_each(text: str, where: str, key: int | None, names: Container[str] | None = None) -> str:
    """Return a JSON object's text; with a `key`, its values (or those of `names`) are sealed."""
    if key is None:
        return text
    parts = (
        f"{json.dumps(name)}:{_part(name, value, where, key, names)}"
        for name, value in json.loads(text).items()
    )
    return f"{{{','.join(parts)}}}"


def seal_facts(text: str, where: str, key: int | None) -> str:
    """Return the JSON text of a wait's facts, with the payloads sealed if there is a key."""
    return seal_each(text, where, key, PRIVATE)


def seal_lines(text: str, where: str, key: int | None) -> str:
    """Return a JSON list's text as a list of one envelope; without a key, return it unchanged."""
    return text if key is None else f"[{seal_json(text, where, key)}]"


def open_json(value: Any, where: str) -> Any:
    """Return a JSON column's value, opened if it is an envelope. Raises SealBroken.

    Keys that SQL merged into an envelope are merged into the opened object.
    """
    if not is_sealed(value) or isinstance(value, str):
        return value
    found = json.loads(_opened(value[SEALED], where))
    more = {name: other for name, other in value.items() if name != SEALED}
    return {**found, **more} if more and isinstance(found, dict) else found


def open_text(value: str, where: str) -> str:
    """Return a text column's value, opened if it is an envelope. Raises SealBroken."""
    return _opened(value[len(TEXT) :], where) if is_sealed(value) else value


def open_each(values: Any, where: str) -> Any:
    """Return an object with each sealed value opened. Raises SealBroken."""
    if not isinstance(values, dict) or not any(map(is_sealed, values.values())):
        return values
    return {name: open_json(value, f"{where}.{name}") for name, value in values.items()}


def open_lines(values: Any, where: str) -> Any:
    """Return a list with each envelope replaced by the lines it holds. Raises SealBroken.

    A line that SQL appended may hold a sealed message.
    """
    if not isinstance(values, list) or not any(key_of(value) for value in values):
        return values
    lines: list[Any] = []
    for value in values:
        if is_sealed(value):
            lines += open_json(value, where)
        elif key_of(value):
            lines.append(value | {MESSAGE: open_text(value[MESSAGE], where)})
        else:
            lines.append(value)
    return lines


def keys_in(form: str, value: Any) -> set[int | None]:
    """Return the IDs of the keys that seal the parts of a column's value.

    None stands for an unsealed part. A value of None or of empty text has no parts.
    """
    if value is None or value == "":
        return set()
    if form == "lines":
        return {key_of(line) for line in value}
    if form in ("each", "facts"):
        return {
            key_of(part)
            for name, part in value.items()
            if part is not None and (form == "each" or name in PRIVATE)
        }
    return {key_of(value)}


def _part(name: str, value: Any, where: str, key: int, names: Container[str] | None) -> str:
    text = _dumped(value)
    return (
        text if names is not None and name not in names else seal_json(text, f"{where}.{name}", key)
    )


def _sealed(text: str, where: str, key: int) -> str:
    found = payload_keys.opened(key)
    value = found.aead.encrypt(text.encode(), _bound(found.workspace_id, where))
    return f"{key}.{base64.b64encode(value).decode()}"


def _opened(body: str, where: str) -> str:
    import tink

    if not _FORM.fullmatch(body):
        raise SealBroken(f"The value of {where} is not an envelope that Valkyr wrote.")
    key, _, text = body.partition(".")
    found = payload_keys.opened(int(key))
    try:
        value = base64.b64decode(text, validate=True)
        return found.aead.decrypt(value, _bound(found.workspace_id, where)).decode()
    except (tink.TinkError, binascii.Error):
        raise SealBroken(
            f"The sealed value of {where} cannot be opened: it was changed, or belongs to another "
            "row."
        ) from None


def _bound(workspace_id: UUID, where: str) -> bytes:
    return f"valkyr.payload|{workspace_id}|{where}".encode()


def _body(value: Any) -> str:
    return value[len(TEXT) :] if isinstance(value, str) else str(value[SEALED])


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
