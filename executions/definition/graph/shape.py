"""Compares a document with WORKFLOW_SCHEMA and says each difference in a sentence."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.schema import WORKFLOW_SCHEMA
from executions.definition.graph.schema_building import CREDENTIAL_NAME, SLUG, VARIABLE_NAME
from executions.definition.templating.errors import Pointer
from executions.definition.templating.paths import kind

# A jsonschema ValidationError; the library is imported late, since workers never validate.
SchemaError = Any

_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
}
_PATTERNS = {
    SLUG: (
        "bad_slug",
        "use letters, digits, _ and -, starting with none of the latter",
    ),
    VARIABLE_NAME: (
        "bad_name",
        "a variable's name is letters, digits and _, starting with no digit",
    ),
    CREDENTIAL_NAME: (
        "bad_name",
        "a credential's name is small letters, digits and _, starting with a letter",
    ),
}
SHOWN_CHARACTERS = 60


def shape_problems(document: Any) -> Iterator[DefinitionProblem]:
    """Every place where the document is not as the schema says."""
    for error in _validator().iter_errors(document):
        yield from _explain(error)


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(WORKFLOW_SCHEMA)


def _explain(error: SchemaError) -> Iterator[DefinitionProblem]:
    pointer: Pointer = tuple(error.absolute_path)
    rule, expected, found = error.validator, error.validator_value, error.instance
    if "propertyNames" in error.relative_schema_path:
        pointer = (*pointer, found)
    if rule == "oneOf":
        return  # a task's `use` or `modules`: rules/modules.py says which is missing or too much
    if rule == "additionalProperties":
        yield from _unknown_keys(pointer, error)
    elif rule == "required":
        # The library raises one error a key, whose message starts with the key.
        key = next(key for key in expected if error.message.startswith(f"{key!r} "))
        yield problem((*pointer, key), "required", f'"{key}" is required')
    elif rule == "type":
        names = [expected] if isinstance(expected, str) else expected
        wanted = " or ".join(_TYPES[name] for name in names)
        yield problem(pointer, "type", f"expected {wanted}, found {shown(found)}")
    elif rule == "pattern":
        code, sentence = _PATTERNS[expected]
        yield problem(pointer, code, f"{shown(found)} cannot be used here: {sentence}")
    elif rule in _BOUNDS:
        bound = _BOUNDS[rule].format(f"{expected:,}")
        yield problem(pointer, "value", f"expected {bound}, found {_measured(rule, found)}")
    else:
        yield from _choice(pointer, rule, expected, found)


def _unknown_keys(pointer: Pointer, error: SchemaError) -> Iterator[DefinitionProblem]:
    known = error.schema["properties"]
    for key in error.instance:
        if key not in known:
            hint = did_you_mean(key, known) or f"; known keys: {', '.join(known)}"
            yield problem((*pointer, key), "unknown_key", f'there is no key "{key}" here{hint}')


def _choice(pointer: Pointer, rule: str, expected: Any, found: Any) -> Iterator[DefinitionProblem]:
    options = expected if rule == "enum" else [expected]
    hint = did_you_mean(found, map(str, options)) if isinstance(found, str) else ""
    wanted = ", ".join(f'"{option}"' for option in options)
    one_of = "one of " if len(options) > 1 else ""
    code = "unknown_retry_policy" if pointer[-1:] == ("retry",) else "value"
    yield problem(pointer, code, f"expected {one_of}{wanted}, found {shown(found)}{hint}")


def _measured(rule: str, found: Any) -> str:
    return f"{len(found):,}" if rule.endswith(("Length", "Items")) else f"{found:,}"


def shown(value: Any) -> str:
    """A value as messages show it: scalars written out and shortened, the rest by type."""
    if isinstance(value, str):
        short = value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}…"
        return f'"{short}"'
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping | list):
        return kind(value)
    return str(value)[:SHOWN_CHARACTERS]
