"""Rules for the payload's JSON Schema: it must be valid, self-contained, and cheap to check."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.storable import canonical_json
from executions.definition.graph.topology import cycles
from executions.definition.json_schema.budget import BudgetExceeded, for_a_schema, spending
from executions.definition.json_schema.checking import (
    DATA_KEYWORDS,
    bad_patterns,
    schema_mistakes,
    unchecked_formats,
)
from executions.definition.templating.errors import Pointer

# References in the payload's schema must exist, and must not form a cycle.
#
# A cycle of references that consume no part of the payload would make its validation endless.


# Keywords whose schemas apply to the same value as the enclosing schema.
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_REFERENCES = ("$ref", "$dynamicRef")

Schema = Mapping[str, Any]


def reference_problems(schema: Schema) -> Iterator[DefinitionProblem]:
    """Yield problems for references of a valid schema that have no target or form a cycle."""
    places, resolver = list(_schemas(schema)), _resolver(schema)
    index = {id(part): number for number, (_, part) in enumerate(places)}
    pairs: list[tuple[int, int]] = []
    for number, (pointer, part) in enumerate(places):
        applied = list(_applied(part))
        for key in _REFERENCES:
            if isinstance(part.get(key), str):
                target = _target(resolver, part[key])
                if target is None:
                    message = f'"{part[key]}" does not exist in the schema'
                    yield problem((*pointer, key), "bad_schema", message)
                applied.append(target)
        pairs += [(number, index[id(other)]) for other in applied if id(other) in index]
    for cycle in cycles(len(places), pairs):
        message = "this part of the schema refers to itself endlessly"
        yield problem(places[cycle[0]][0], "bad_schema", message)


def _schemas(schema: Schema) -> Iterator[tuple[Pointer, Schema]]:
    pending: list[tuple[Pointer, Any]] = [(("input",), schema)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            yield pointer, value
            pending += [((*pointer, k), v) for k, v in value.items() if k not in DATA_KEYWORDS]
        elif isinstance(value, list):
            pending += [((*pointer, place), item) for place, item in enumerate(value)]


def _applied(part: Schema) -> Iterator[Any]:
    for key in _LISTS:
        if isinstance(part.get(key), list):
            yield from part[key]
    for key in _SINGLE:
        yield part.get(key)
    if isinstance(part.get("dependentSchemas"), dict):
        yield from part["dependentSchemas"].values()


def _resolver(schema: Schema) -> Any:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    root = DRAFT202012.create_resource(schema)
    return (Registry().with_resource(root.id() or "", root).crawl()).resolver(root.id() or "")


def _target(resolver: Any, reference: str) -> Any:
    """Return the part of the schema that a reference names; None if it does not exist."""
    from referencing.exceptions import Unresolvable

    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, ValueError, LookupError, TypeError):
        return None


MAX_CHARACTERS = 131_072
MAX_PROBLEMS = 100
_ARTICLES = {"$id": "an", "$schema": "a"}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def input_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Yield the problems of `input`, which must be a self-contained draft 2020-12 schema."""
    schema = document.get("input")
    if not isinstance(schema, dict):
        return
    if len(canonical_json(schema)) > MAX_CHARACTERS:
        message = f"the schema of the payload may have at most {MAX_CHARACTERS:,} characters"
        yield problem(("input",), "too_large", message)
        return
    try:
        found = [*_dialect(schema), *_meta_problems(schema), *_part_problems(schema)]
    except BudgetExceeded:
        message = "the schemas of the workflow have too many parts to be checked: shorten this one"
        yield problem(("input",), "too_large", message)
        return
    yield from found or reference_problems(schema)


def _dialect(schema: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    dialect = schema.get("$schema", DIALECT)
    if isinstance(dialect, str) and dialect.rstrip("#") != DIALECT:
        message = f'expected draft 2020-12 ("{DIALECT}"), found "{dialect}"'
        yield problem(("input", "$schema"), "bad_schema", message)


def _meta_problems(schema: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    try:
        found = schema_mistakes(schema, for_a_schema(), MAX_PROBLEMS)
    except RecursionError:
        yield problem(("input",), "bad_schema", "the schema of the payload is nested too deeply")
        return
    seen = set()
    for mistake in found:
        pointer: Pointer = ("input", *mistake.path)
        if pointer not in seen:
            seen.add(pointer)
            yield problem(pointer, "bad_schema", f"not a JSON Schema: {mistake.message[:200]}")


def _part_problems(schema: Any) -> Iterator[DefinitionProblem]:
    """Yield problems of patterns, external references, formats, and nested $id or $schema."""
    with spending(for_a_schema()):
        bad = list(bad_patterns(schema))
    for place, error in bad:
        yield problem(("input", *place), "bad_schema", str(error))
    pending: list[tuple[Pointer, Any]] = [(("input",), schema)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            yield from _keyword_problems(value, pointer)
            pending += [((*pointer, k), v) for k, v in value.items() if k not in DATA_KEYWORDS]
        elif isinstance(value, list):
            pending += [((*pointer, index), item) for index, item in enumerate(value)]


def _keyword_problems(schema: Mapping[str, Any], pointer: Pointer) -> Iterator[DefinitionProblem]:
    for key in ("$ref", "$dynamicRef"):
        target = schema.get(key)
        if isinstance(target, str) and not target.startswith("#"):
            message = (
                f'"{target}" refers to another document; use only references that begin with "#"'
            )
            yield problem((*pointer, key), "bad_schema", message)
    wanted = schema.get("format")
    if isinstance(wanted, str) and wanted in unchecked_formats():
        message = f"the format \"{wanted}\" cannot be checked here: pip install 'valkyr[formats]'"
        yield problem((*pointer, "format"), "not_installed", message)
    for key in ("$id", "$schema") if len(pointer) > 1 else ():
        if isinstance(schema.get(key), str):
            message = f"a part of the schema cannot have {_ARTICLES[key]} {key} of its own"
            yield problem((*pointer, key), "bad_schema", message)
