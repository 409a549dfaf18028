"""The JSON Schema of a model's answer, from output parsers and Information Extractor."""

import json
from typing import Any

from valkyr_plugins.n8n.export import Node
from valkyr_plugins.n8n.mapping import Helped, NodeWork, below
from valkyr_plugins.n8n.placeholder import bare

PARSER = "ai_outputParser"
MAX_SCHEMA = 20_000
MAX_DEPTH = 8
_NAMES = {bool: "boolean", int: "number", float: "number", str: "string"}
_KINDS = {"string": "string", "number": "number", "boolean": "boolean", "date": "string"}


def parsed(work: NodeWork) -> dict[str, Any] | None:
    """Return the schema that the answer must match; None if there is none."""
    if work.node.kind == "informationExtractor":
        return _of(work, work.node)
    return _by_parsers(work, work.helpers, 0)


def _by_parsers(
    work: NodeWork, helpers: list[tuple[str, Node]], depth: int
) -> dict[str, Any] | None:
    for kind, node in helpers:
        if kind != PARSER or depth > 2:
            continue
        if node.kind == "outputParserAutofixing":
            inner = work.drawn.helpers(node.name)
            work.parts[node.name] = Helped(work.id, "llm.extract")
            for other_kind, model in inner:
                if other_kind == "ai_languageModel":
                    remark = "Corrections are asked of the first model."
                    work.parts[model.name] = Helped(work.id, "llm.extract", [remark])
            return _by_parsers(work, inner, depth + 1) or _missing(work)
        remarks: list[str] = []
        if node.kind == "outputParserItemList":
            found: dict[str, Any] = {"type": "array", "items": {"type": "string"}}
        elif node.kind == "outputParserStructured":
            found = _of(work, node)
        else:
            continue
        work.parts[node.name] = Helped(work.id, "llm.extract", remarks)
        return found
    return None


def _of(work: NodeWork, node: Node) -> dict[str, Any]:
    """Return a node's schema, from a written schema, an example, or a list of attributes."""
    given = node.parameters
    rows = below(given, "attributes.attributes")
    if isinstance(rows, list) and rows:
        return _of_attributes([row for row in rows if isinstance(row, dict)])
    example = _read(given.get("jsonSchemaExample"))
    for key in ("inputSchema", "jsonSchema"):
        schema = _read(given.get(key))
        if isinstance(schema, dict) and ("type" in schema or "properties" in schema):
            return _sound(schema)
    if example is not None:
        return of_example(example)
    return _missing(work)


def _missing(work: NodeWork) -> dict[str, Any]:
    work.remark("The file does not have the form of the answer: describe it in `schema`.")
    return {"type": "object"}


def _read(raw: Any) -> Any:
    if not isinstance(raw, str) or not 2 <= len(raw) <= MAX_SCHEMA or "{{" in raw:
        return None
    try:
        return bare(json.loads(raw.removeprefix("=")))
    except (ValueError, RecursionError):
        return None


def _sound(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without the keys `$schema` and `$id`."""
    return {key: value for key, value in schema.items() if key not in ("$schema", "$id")}


def of_example(value: Any, depth: int = 0) -> dict[str, Any]:
    """Return a schema for values like this one; it requires all fields of the objects."""
    if depth > MAX_DEPTH or value is None:
        return {}
    if isinstance(value, dict):
        fields = {str(key): of_example(one, depth + 1) for key, one in value.items()}
        found: dict[str, Any] = {"type": "object", "properties": fields}
        return found | ({"required": list(fields)} if fields else {})
    if isinstance(value, list):
        return {"type": "array", "items": of_example(value[0], depth + 1) if value else {}}
    return {"type": _NAMES[type(value)]}


def _of_attributes(rows: list[dict[str, Any]]) -> dict[str, Any]:
    fields, required = {}, []
    for row in rows:
        name = str(row.get("name") or "").strip()
        if not name:
            continue
        fields[name] = {"type": _KINDS.get(str(row.get("type", "string")), "string")}
        if about := row.get("description"):
            fields[name]["description"] = bare(str(about).removeprefix("="))[:1000]
        if row.get("required") is True:
            required.append(name)
    found: dict[str, Any] = {"type": "object", "properties": fields}
    return found | ({"required": required} if required else {})
