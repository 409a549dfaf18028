"""References inside the payload's schema lead somewhere, and never back to where they began.

A circle of references that consume nothing of the payload would never end when it is validated.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.topology import cycles
from executions.definition.json_schema.patterns import DATA_KEYWORDS
from executions.definition.templating.errors import Pointer

# Keywords whose schemas apply to the same value as the schema they stand in.
_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")
_REFERENCES = ("$ref", "$dynamicRef")

Schema = Mapping[str, Any]


def reference_problems(schema: Schema) -> Iterator[DefinitionProblem]:
    """References of a valid schema that lead nowhere, or in a circle."""
    places, resolver = list(_schemas(schema)), _resolver(schema)
    index = {id(part): number for number, (_, part) in enumerate(places)}
    pairs: list[tuple[int, int]] = []
    for number, (pointer, part) in enumerate(places):
        applied = list(_applied(part))
        for key in _REFERENCES:
            if isinstance(part.get(key), str):
                target = _target(resolver, part[key])
                if target is None:
                    message = f'"{part[key]}" leads nowhere in the schema'
                    yield problem((*pointer, key), "bad_schema", message)
                applied.append(target)
        pairs += [(number, index[id(other)]) for other in applied if id(other) in index]
    for cycle in cycles(len(places), pairs):
        message = "this part of the schema refers to itself without end"
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
    """The part that `#…` names, or None."""
    from referencing.exceptions import Unresolvable

    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, ValueError, LookupError, TypeError):
        return None
