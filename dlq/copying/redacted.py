"""A step's inputs without secrets: what hides under a usual name becomes a reference by that name.

References of the engine, `[secret:shop.password]`, stay as they are. Pure.
"""

import re
from typing import Any

from executions.admin.values import SECRET

REFERENCE = re.compile(r"\[secret:([a-z][a-z0-9_]{0,79})(?:\.([a-z][a-z0-9_]{0,79}))?\]")


def redacted(value: Any) -> Any:
    """The value with a reference in place of each text or number under a secret's usual name."""
    if isinstance(value, dict):
        return {key: _member(key, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [redacted(inner) for inner in value]
    return value


def reference_of(name: str) -> str:
    """The reference that stands for a secret of that name: `[secret:x_api_key]`."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:70]
    return f"[secret:{plain if plain[:1].isalpha() else f'secret_{plain}'}]"


def references(text: str) -> list[str]:
    """The references in a text, each once, in their order."""
    return list(dict.fromkeys(match[0] for match in REFERENCE.finditer(text)))


def _member(key: str, value: Any) -> Any:
    if not SECRET.match(key) or value in (None, ""):
        return redacted(value)
    if isinstance(value, str) and REFERENCE.search(value):
        return value
    return reference_of(key)
