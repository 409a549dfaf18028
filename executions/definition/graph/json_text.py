"""JSON, strictly: each key once, numbers finite."""

import json
from typing import Any, NoReturn

from executions.definition.graph.problem import TextError


def read_json(text: str) -> Any:
    """The value that the text describes; raises TextError."""
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        message = f"the text is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        raise TextError("syntax", message) from None
    except ValueError as error:
        raise TextError("value", f"a number cannot be read: {error}") from None
    except RecursionError:
        raise TextError("too_deep", "values are nested too deeply") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise TextError("duplicate_key", f'the key "{key}" is given twice in one object')
        values[key] = value
    return values


def _no_constant(name: str) -> NoReturn:
    raise TextError("value", f"JSON cannot hold the number {name}")
