"""Reads a definition's YAML or JSON text into a document; nothing but JSON values come out.

Refused: more than 1 MiB, nesting past 64, a key given twice, aliases that multiply, values that
cannot be stored.
"""

from typing import Any

from executions.definition.graph.json_text import read_json
from executions.definition.graph.problem import DefinitionError, Problem, TextError
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
        raise DefinitionError([Problem("", "type", "a definition is an object with keys")])
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
        raise DefinitionError([Problem("", error.code, str(error))]) from None
    message = f'a definition is YAML or JSON; "{content_type}" is neither'
    raise DefinitionError([Problem("", "content_type", message)])
