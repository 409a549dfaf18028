"""The payload's JSON Schema is one: valid, self-contained, and safe to validate with."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.graph.canonical import canonical_json
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.rules.schema_references import reference_problems
from executions.definition.json_schema.budget import BudgetExceeded, for_a_schema, spending
from executions.definition.json_schema.checking import schema_mistakes
from executions.definition.json_schema.patterns import DATA_KEYWORDS, bad_patterns
from executions.definition.templating.errors import Pointer

MAX_CHARACTERS = 131_072
MAX_PROBLEMS = 100
_ARTICLES = {"$id": "an", "$schema": "a"}
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def input_problems(document: Mapping[str, Any]) -> Iterator[DefinitionProblem]:
    """Every place where `input` is not a JSON Schema of draft 2020-12 that stands by itself."""
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
        yield problem(("input",), "bad_schema", "the schema of the payload nests too deep")
        return
    seen = set()
    for mistake in found:
        pointer: Pointer = ("input", *mistake.path)
        if pointer not in seen:
            seen.add(pointer)
            yield problem(pointer, "bad_schema", f"not a JSON Schema: {mistake.message[:200]}")


def _part_problems(schema: Any) -> Iterator[DefinitionProblem]:
    """References out of the document and patterns that cannot be matched."""
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
            message = f'"{target}" leads out of the schema; only "#…" can be referred to'
            yield problem((*pointer, key), "bad_schema", message)
    for key in ("$id", "$schema") if len(pointer) > 1 else ():
        if isinstance(schema.get(key), str):
            message = f"a part of the schema cannot have {_ARTICLES[key]} {key} of its own"
            yield problem((*pointer, key), "bad_schema", message)
