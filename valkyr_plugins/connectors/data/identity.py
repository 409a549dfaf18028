"""What makes two values the same: equal JSON. 1 and "1" differ, 1 and 1.0 do not."""

import json
from typing import Any

from runners.public.modules import StepError

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def identity(value: Any) -> Any:
    """Something hashable that is equal for equal values."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return ("word", value)  # True is 1 to Python, not to JSON
    if isinstance(value, int | float):
        return ("number", value)
    try:
        return ("json", _encode(value))
    except (TypeError, ValueError, RecursionError) as error:
        raise StepError(f"a value is not JSON, so it cannot be compared: {error}") from error
