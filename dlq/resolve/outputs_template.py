"""What a step's outputs may look like, to begin with: the last good ones, or a schema's shape."""

from collections.abc import Mapping
from typing import Any

from dlq.comparing.finding import last_good
from dlq.models import DeadLetterEntry
from executions.definition.catalog import catalog

DEEP = 6
BLANKS: Mapping[str, Any] = {
    "string": "", "integer": 0, "number": 0, "boolean": False, "array": [], "object": {},
    "null": None,
}  # fmt: skip


def template(entry: DeadLetterEntry, *, with_payloads: bool) -> tuple[Any, str]:
    """Outputs to be filled in, and where they are from in words; None where nothing is known.

    Outputs of another run are shown to who may see payloads.
    """
    if with_payloads:
        good = last_good(entry).good
        if good is not None and good.run.outputs is not None:
            origin = f"They are those of the last good run (version {good.version})."
            return good.run.outputs, origin
    spec = catalog().get(entry.module)
    if spec is None or spec.outputs_schema is None:
        return None, ""
    return shape(dict(spec.outputs_schema)), f"They have the shape that {entry.module} gives."


def shape(schema: Mapping[str, Any]) -> Any:
    """A value that a JSON schema allows, as empty as can be; examples and defaults where given."""
    return _shape(schema, schema.get("$defs", {}), DEEP)


def _shape(schema: Any, known: Mapping[str, Any], deep: int) -> Any:
    if not isinstance(schema, Mapping) or deep == 0:
        return None
    followed = _followed(schema, known)
    if followed is not None:
        return _shape(followed, known, deep - 1)
    for given in (schema.get("enum"), schema.get("examples")):
        if given:
            return given[0]
    properties = schema.get("properties")
    if isinstance(properties, Mapping):
        wanted = schema.get("required", list(properties))
        return {name: _shape(properties.get(name), known, deep - 1) for name in wanted}
    return schema.get("const", schema.get("default", BLANKS.get(str(schema.get("type")))))


def _followed(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Any:
    """What a schema refers to, or the first of those it leaves the choice between."""
    if "$ref" in schema:
        return known.get(str(schema["$ref"]).rpartition("/")[2])
    options = schema.get("anyOf") or schema.get("oneOf")
    return options[0] if options else None
