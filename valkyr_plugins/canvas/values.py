"""Convert values to JSON for rows and back, with Celery's markers for types that JSON lacks.

Dates, UUIDs, decimals and bytes keep their types, as with Celery's own JSON serializer.
"""

import json
from typing import Any

from kombu.utils import json as kombu_json

MARK = {"__type__", "__value__"}


class NoJsonError(ValueError):
    """A value cannot be represented in JSON; the message says why."""


def packed(value: Any) -> Any:
    """Return the value in the form stored in rows. Raises NoJsonError."""
    try:
        return json.loads(kombu_json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise NoJsonError(str(error)) from None


def unpacked(value: Any) -> Any:
    """Return the value in the form that tasks expect. Raises ValueError for an unknown marker."""
    if isinstance(value, list):
        return [unpacked(one) for one in value]
    if isinstance(value, dict):
        found = {key: unpacked(one) for key, one in value.items()}
        return kombu_json.object_hook(found) if found.keys() == MARK else found
    return value
