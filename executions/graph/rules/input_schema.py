"""The payload's JSON Schema is one: valid, self-contained, and safe to validate with."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from executions.graph.canonical import canonical_json
from executions.graph.problem import Problem, problem
from executions.graph.rules.schema_references import DATA_KEYWORDS, reference_problems
from executions.templating.errors import Pointer

MAX_CHARACTERS = 131_072  # comparing with the meta-schema takes about a millisecond a part
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def input_problems(document: Mapping[str, Any]) -> Iterator[Problem]:
    """Every place where `input` is not a JSON Schema of draft 2020-12 that stands by itself."""
    schema = document.get("input")
    if not isinstance(schema, dict):
        return
    if len(canonical_json(schema)) > MAX_CHARACTERS:
        message = f"the schema of the payload may have at most {MAX_CHARACTERS:,} characters"
        yield problem(("input",), "too_large", message)
        return
    found = [*_dialect(schema), *_meta_problems(schema), *_part_problems(schema)]
    yield from found or reference_problems(schema)


def _dialect(schema: Mapping[str, Any]) -> Iterator[Problem]:
    dialect = schema.get("$schema", DIALECT)
    if isinstance(dialect, str) and dialect.rstrip("#") != DIALECT:
        message = f'expected draft 2020-12 ("{DIALECT}"), found "{dialect}"'
        yield problem(("input", "$schema"), "bad_schema", message)


def _meta_problems(schema: Mapping[str, Any]) -> Iterator[Problem]:
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    seen = set()
    for error in validator.iter_errors(schema):
        pointer: Pointer = ("input", *error.absolute_path)
        if pointer not in seen:
            seen.add(pointer)
            yield problem(pointer, "bad_schema", f"not a JSON Schema: {error.message[:200]}")


def _part_problems(schema: Any) -> Iterator[Problem]:
    """References out of the document and patterns that are no regular expression."""
    pending: list[tuple[Pointer, Any]] = [(("input",), schema)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            yield from _keyword_problems(value, pointer)
            pending += [((*pointer, k), v) for k, v in value.items() if k not in DATA_KEYWORDS]
        elif isinstance(value, list):
            pending += [((*pointer, index), item) for index, item in enumerate(value)]


def _keyword_problems(schema: Mapping[str, Any], pointer: Pointer) -> Iterator[Problem]:
    for key in ("$ref", "$dynamicRef"):
        target = schema.get(key)
        if isinstance(target, str) and not target.startswith("#"):
            message = f'"{target}" leads out of the schema; only "#…" can be referred to'
            yield problem((*pointer, key), "bad_schema", message)
    if len(pointer) > 1 and isinstance(schema.get("$id"), str):
        message = "a part of the schema cannot have an $id of its own"
        yield problem((*pointer, "$id"), "bad_schema", message)
    if isinstance(schema.get("pattern"), str):
        yield from _pattern(schema["pattern"], (*pointer, "pattern"))
    patterns = schema.get("patternProperties")
    for pattern in patterns if isinstance(patterns, dict) else ():
        yield from _pattern(pattern, (*pointer, "patternProperties", pattern))


def _pattern(pattern: str, pointer: Pointer) -> Iterator[Problem]:
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        yield problem(pointer, "bad_schema", f'"{pattern}" is no regular expression: {error}')
