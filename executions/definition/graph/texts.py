"""Reads a definition's YAML or JSON text into a document; nothing but JSON values come out.

Refused: more than 1 MiB, nesting past 64, a key given twice, aliases that multiply, values that
cannot be stored.
"""

import json
from typing import Any, NoReturn

from executions.definition.graph.problem import DefinitionError, DefinitionProblem, TextError
from executions.definition.graph.storable import MAX_BYTES, storage_problems, too_large
from executions.definition.graph.yaml_text import read_yaml


def load_text(text: str, *, content_type: str) -> dict[str, Any]:
    """The document of a text; `content_type` is a media type or name that says yaml or json.

    Raises DefinitionError. The document is as written: see `normalise` and `problems`.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise DefinitionError([too_large(size)])
    document = _read(text, content_type.lower())
    if not isinstance(document, dict):
        raise DefinitionError(
            [DefinitionProblem("", "type", "a definition is an object with keys")]
        )
    if found := storage_problems(document):
        raise DefinitionError(found)
    return document


def _read(text: str, content_type: str) -> Any:
    try:
        if "json" in content_type:
            return read_json(text)
        if "yaml" in content_type:
            return read_yaml(text)
    except TextError as error:
        raise DefinitionError([DefinitionProblem("", error.code, str(error))]) from None
    message = f'a definition is YAML or JSON; "{content_type}" is neither'
    raise DefinitionError([DefinitionProblem("", "content_type", message)])


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
