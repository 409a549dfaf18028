"""A definition as YAML for people: keys in the order of the schema, `from` before `to`.

PostgreSQL's jsonb does not keep the order of keys, so the author's order is lost.
"""

from collections.abc import Mapping
from typing import Any

from executions.definition.graph.schema import WORKFLOW_SCHEMA
from executions.definition.graph.yaml_text import dump_yaml

# The usual order of keywords in a JSON Schema; its other keywords follow.
_JSON_SCHEMA = ("$ref", "type", "title", "description", "enum", "const", "required", "properties")
_NAMED_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions")


def definition_yaml(document: Any) -> str:
    """Return a stored definition as YAML, which `load_text` reads back as an equal document.

    Parts that do not match the schema are written unchanged.
    """
    ordered = _ordered(document, WORKFLOW_SCHEMA)
    if isinstance(ordered, dict) and isinstance(ordered.get("input"), dict):
        ordered["input"] = _schema_ordered(ordered["input"])
    return dump_yaml(ordered)


def _ordered(value: Any, schema: Mapping[str, Any]) -> Any:
    if name := schema.get("$ref"):
        schema = WORKFLOW_SCHEMA["$defs"][name.removeprefix("#/$defs/")]
    if isinstance(value, list):
        return [_ordered(item, schema.get("items") or {}) for item in value]
    properties: Mapping[str, Any] = schema.get("properties") or {}
    if not isinstance(value, dict) or not properties:
        return value
    return {
        key: _ordered(value[key], properties.get(key) or {})
        for key in _known_first(value, properties)
    }


def _schema_ordered(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_schema_ordered(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    ordered: dict[str, Any] = {}
    for key in _known_first(schema, _JSON_SCHEMA):
        part = schema[key]
        if key in _NAMED_SCHEMAS and isinstance(part, dict):
            ordered[key] = {name: _schema_ordered(one) for name, one in part.items()}
        elif key in ("default", "examples", "const", "enum"):
            ordered[key] = part
        else:
            ordered[key] = _schema_ordered(part)
    return ordered


def _known_first(keys: Mapping[str, Any], known: Any) -> list[str]:
    return [key for key in known if key in keys] + [key for key in keys if key not in known]
