"""Changes for the audit trail: the fields that differ, before and after, without secrets."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

# Fields whose names indicate a secret; their changes are recorded without values.
SECRET = re.compile(r"(?i)(password|passwd|secret|digest|api[-_]?key|private[-_]?key)")
CHANGED = "••••••"
# Maximum characters of a recorded text; of a longer text, the beginning and a checksum are
# recorded.
LONGEST = 1_000


def difference(
    before: Mapping[str, Any], after: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of `after` that differ: their values before and after, as JSON values."""
    names = [name for name in after if name not in before or before[name] != after[name]]
    return (
        {name: _told(name, before.get(name)) for name in names},
        {name: _told(name, after[name]) for name in names},
    )


def told(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values as the audit trail records them: as JSON, without secrets."""
    return {name: _told(name, value) for name, value in values.items()}


def _told(name: str, value: Any) -> Any:
    if value in (None, ""):
        return value
    return CHANGED if SECRET.search(name) else _json(value)


def _json(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(key): _told(str(key), inner) for key, inner in value.items()}
    if not isinstance(value, str) and isinstance(value, Iterable):
        return sorted((_json(inner) for inner in value), key=str)
    text = value.isoformat() if hasattr(value, "isoformat") else str(value)
    if len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(text.encode(errors="replace")).hexdigest()
    return f"{text[:LONGEST]}… ({len(text):,} characters, SHA-256 {digest})"
