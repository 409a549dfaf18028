"""The types that values will have in a run, according to the modules' schemas."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

# Follow a template's path through a JSON Schema, to find the type at its end.
#
# Nothing is concluded from what a schema leaves open. The schemas come from pydantic: an object
# that lists its properties and says nothing about others has no others.


Key = str | int
Schema = Mapping[str, Any]

MAX_REFERENCES = 20
# Modules' inputs convert between text and numbers, so only these classes clearly differ.
CLASSES = {
    "string": "text or a number",
    "number": "text or a number",
    "integer": "text or a number",
    "boolean": "text or a number",
    "object": "an object",
    "array": "a list",
}
ANY = frozenset({*CLASSES.values()})


@dataclass(frozen=True, slots=True)
class Typed:
    """A schema, and the document that has its `$defs`."""

    schema: Any
    root: Schema

    def at(self, key: Key) -> "Typed | Missing | None":
        """Return the type of the value at a key: Missing if no such key exists, None if unknown."""
        found = [_under(branch, key) for branch in self._branches()]
        if not found or None in found:
            return None
        known = [one for one in found if isinstance(one, Typed)]
        if len(known) == 1:
            return known[0]
        if known:
            return Typed({"anyOf": [one.schema for one in known]}, self.root)
        names = [name for one in found if isinstance(one, Missing) for name in one.names]
        kinds = {one.kind for one in found if isinstance(one, Missing)}
        return Missing(tuple(dict.fromkeys(names)), " or ".join(sorted(kinds)))

    def kinds(self) -> frozenset[str]:
        """Return the possible classes of values (CLASSES); all classes for an open schema."""
        found: set[str] = set()
        for branch in self._branches():
            kind = _type(branch.schema)
            if kind is None:
                return ANY
            found.add(CLASSES[kind])
        return frozenset(found) or ANY

    def _branches(self) -> Iterator["Typed"]:
        """Yield the alternatives except null, with references resolved.

        An open schema is one alternative.
        """
        pending, followed = [self.schema], 0
        while pending:
            schema = pending.pop(0)
            if not isinstance(schema, Mapping):
                yield Typed({}, self.root)
            elif "$ref" in schema and followed < MAX_REFERENCES:
                followed += 1
                pending.insert(0, _referred(schema["$ref"], self.root))
            elif "anyOf" in schema or "oneOf" in schema:
                pending = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *pending]
            elif len(schema.get("allOf", ())) == 1:
                pending.insert(0, schema["allOf"][0])
            elif isinstance(schema.get("type"), list):
                pending = [*({**schema, "type": one} for one in schema["type"]), *pending]
            elif schema.get("type") != "null":
                yield Typed(schema, self.root)


@dataclass(frozen=True, slots=True)
class Missing:
    """The result for a key that does not exist.

    `names` are the existing keys, and `kind` is the type of the value that lacks the key.
    """

    names: tuple[str, ...]
    kind: str


def _referred(reference: Any, root: Schema) -> Any:
    name = str(reference).removeprefix("#/$defs/")
    return root.get("$defs", {}).get(name, {})


def _type(schema: Any) -> str | None:
    """Return the schema's type; None if it has no single type, or has $ref, allOf, not or if."""
    kind = schema.get("type")
    if any(word in schema for word in ("$ref", "allOf", "not", "if")):
        return None
    return kind if kind in CLASSES else None


def _under(typed: Typed, key: Key) -> Typed | Missing | None:
    kind = _type(typed.schema)
    if kind is None:
        return None
    if kind == "object":
        return _property(typed, key)
    if kind == "array":
        return _item(typed, key)
    return Missing((), CLASSES[kind])


def _property(typed: Typed, key: Key) -> Typed | Missing | None:
    schema = typed.schema
    properties = schema.get("properties", {})
    if not isinstance(key, str) or "patternProperties" in schema:
        return None
    if key in properties:
        return Typed(properties[key], typed.root)
    others = schema.get("additionalProperties", None if properties else True)
    if isinstance(others, Mapping):
        return Typed(others, typed.root)
    return None if others is True else Missing(tuple(properties), CLASSES["object"])


def _item(typed: Typed, key: Key) -> Typed | Missing | None:
    if isinstance(key, str):
        return Missing((), CLASSES["array"])
    if "prefixItems" in typed.schema or "items" not in typed.schema:
        return None
    return Typed(typed.schema["items"], typed.root)
