"""The types of built-in modules for type checkers, `built_in.pyi`, generated from their schemas.

A result has the fields of the module's outputs. A nullable field has the type without null. A field
of several types has the type Any, because a program cannot narrow the type of a handle. Inputs are
checked by name only, because each may be a template.
"""

import builtins
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from keyword import iskeyword
from typing import Any

from executions.public.definitions import catalog
from runners.public.registry import declared_modules

Schema = Mapping[str, Any]

HEAD = """# Types of the built-in modules, written by `manage.py describe_python_api`.

# fmt: off
# ruff: noqa: A002, N803, N815 - inputs and outputs have the names that workflows know
from collections.abc import Mapping
from typing import Any, Generic, Literal, Self, TypeVar

_R_co = TypeVar("_R_co", covariant=True)
_V = TypeVar("_V")

# A module whose inputs are not known before.
class BuiltIn(Generic[_R_co]):
    def options(self, **options: Any) -> Self: ...
    def __call__(self, *, with_: Mapping[str, Any] | None = ..., **inputs: Any) -> _R_co: ...

# A family of modules that another package or the project declares.
class OtherModules:
    def __getattr__(self, name: str) -> Any: ...

# What a module gives.
class Outputs(dict[str, Any]): ...

# An object whose keys are not known before.
class Values(dict[str, _V]):
    def __getattr__(self, name: str) -> _V: ...
"""
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def stub() -> str:
    """Return the text of `built_in.pyi`."""
    specs = catalog()
    types = _Types()
    families = []
    for family, names in groupby(
        sorted(declared_modules()), key=lambda one: one.rpartition(".")[0]
    ):
        members = []
        for name in names:
            word, result = name.rpartition(".")[2], types.result(specs[name].outputs_schema)
            members.append(_member(name, word, specs[name].inputs_schema, result))
        families.append((family, members))
    parts = [HEAD, *types.classes.values()]
    for _, members in families:
        parts += [text for _, _, text in members if text]
    parts += [_family(name, [one[:2] for one in members]) for name, members in families]
    parts.append(_all([name for name, _ in families]))
    return "\n".join(parts)


@dataclass(slots=True)
class _Types:
    """The classes of results, keyed by name; equal classes are written once."""

    classes: dict[str, str] = field(default_factory=dict)
    _made: dict[str, str] = field(default_factory=dict)  # class names, by schema

    def result(self, schema: Schema | None) -> str:
        return "Any" if schema is None else self.type_of(schema, schema)

    def type_of(self, schema: Schema, root: Schema) -> str:
        """Return the Python annotation for a JSON Schema."""
        if "$ref" in schema:
            return self.type_of(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
        if "enum" in schema or "const" in schema:
            words = schema.get("enum", [schema.get("const")])
            return f"Literal[{', '.join(map(repr, words))}]"
        if options := schema.get("anyOf") or schema.get("oneOf"):
            kinds = dict.fromkeys(
                self.type_of(one, root) for one in options if one.get("type") != "null"
            )
            return next(iter(kinds)) if len(kinds) == 1 else "Any"
        match schema.get("type"):
            case "array":
                return f"list[{self.type_of(schema.get('items', {}), root)}]"
            case "object":
                return self._object(schema, root)
            case kind:
                return PLAIN.get(str(kind), "Any")

    def _object(self, schema: Schema, root: Schema) -> str:
        if not schema.get("properties"):
            values = schema.get("additionalProperties", True)
            return f"Values[{'Any' if values is True else self.type_of(values, root)}]"
        key = json.dumps([schema, root.get("$defs")], sort_keys=True)
        if key not in self._made:
            self._made[key] = name = self._free(str(schema["title"]))
            self.classes[name] = ""  # reserves a place before the classes that this class names
            self.classes[name] = self._class(name, schema, root)
        return self._made[key]

    def _free(self, title: str) -> str:
        number, found = 1, title
        while found in self.classes or hasattr(builtins, found):
            number += 1
            found = f"{title}{number}"
        return found

    def _class(self, name: str, schema: Schema, root: Schema) -> str:
        fields = [
            f"    {key}: {self.type_of(one, root)}{_overrides(key)}"
            for key, one in schema["properties"].items()
            if key.isidentifier() and not iskeyword(key)
        ]
        more = ["    def __getattr__(self, name: str) -> Any: ..."]
        lines = fields + (more if schema.get("additionalProperties") else [])
        return "\n".join([f"class {name}(Outputs):", *lines, ""])


def _overrides(key: str) -> str:
    """Return a comment for type checkers if the key is a method of dict; otherwise ""."""
    return "  # type: ignore[assignment]" if hasattr(dict, key) else ""


def _member(name: str, word: str, schema: Schema | None, result: str) -> tuple[str, str, str]:
    """Return a module's attribute name and type, and its own class ("" if it needs none)."""
    inputs = list((schema or {}).get("properties", {}))
    attribute = f"{word}_" if iskeyword(word) else word
    if not inputs or schema is None or schema.get("additionalProperties", True) is not False:
        return attribute, f"BuiltIn[{result}]", ""
    kind = "".join(part.title() for part in name.replace("_", ".").split("."))
    given = [*_parameters(inputs), "with_: Mapping[str, Any] | None = ..."]
    lines = [
        f"class {kind}:",
        "    def options(self, **options: Any) -> Self: ...",
        "    def __call__(",
        "        self, *,",
        *(f"        {one}," for one in given),
        f"    ) -> {result}: ...",
        "",
    ]
    return attribute, kind, "\n".join(lines)


def _parameters(inputs: list[str]) -> Iterator[str]:
    for name in inputs:
        if name.isidentifier():
            yield f"{name}_: Any = ..." if iskeyword(name) else f"{name}: Any = ..."


def _family(name: str, members: list[tuple[str, str]]) -> str:
    lines = [f"    {word}: {kind}" for word, kind in members]
    return "\n".join([f"class {_title(name)}Modules:", *lines, ""])


def _all(families: list[str]) -> str:
    lines = [f"    {name}: {_title(name)}Modules" for name in families]
    other = "    def __getattr__(self, name: str) -> OtherModules: ..."
    return "\n".join(["class Modules:", *lines, other, "", "modules: Modules", ""])


def _title(family: str) -> str:
    return family.title()
