"""Types of JSON Schema in words, and texts that fit into a table's cell."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}
FORMATS = {
    "date-time": "instant",
    "date": "date",
    "uri": "address",
    "uuid": "UUID",
    "binary": "bytes",
}


def kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """What a value is, in words; an object's keys are named."""
    if "$ref" in schema:
        return kind(referred(schema, root), root)
    if "enum" in schema or "const" in schema:
        return codes(schema.get("enum", [schema.get("const")]))
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        kinds = dict.fromkeys(kind(option, root) for option in options)
        return " / ".join(name for name in kinds if name != "null")
    return _one_kind(schema, root)


def _one_kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        return f"list of ({kind(schema.get('items', {}), root)})"
    if schema.get("type") == "object" and schema.get("properties"):
        return f"object: {codes(schema['properties'])}"
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    return WORDS.get(schema.get("type", ""), "any value")


def bounds(schema: Mapping[str, Any]) -> str:
    """What a value is held to, where the schema says so: `0 to 10`, `at most 200 characters`."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if low is not None:
        return f"from {low:,}"
    if high is not None:
        return f"up to {high:,}"
    if (most := schema.get("maxLength")) is not None:
        return f"at most {most:,} characters"
    if (most := schema.get("maxItems")) is not None:
        return f"at most {most:,} items"
    return ""


def referred(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, or the one of `$defs` that it stands for."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found: Mapping[str, Any] = root.get("$defs", {}).get(name, {}) if name else schema
    return found


def codes(values: Iterable[Any]) -> str:
    """Names as code, with commas."""
    return ", ".join(code(value if isinstance(value, str) else as_json(value)) for value in values)


def code(text: str) -> str:
    """As code, also where it holds a backtick itself."""
    return f"`` {cell(text)} ``" if "`" in text else f"`{cell(text)}`"


def cell(text: str) -> str:
    """In one line, and without what would end a cell."""
    return " ".join(text.replace("|", "\\|").split())


def as_json(value: Any) -> str:
    """A value as a definition would write it."""
    return json.dumps(value, ensure_ascii=False)
