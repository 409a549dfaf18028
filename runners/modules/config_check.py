"""Check a step's `with` when a workflow is published, before any template has a value.

A string that contains `{{` can become any value. Everything else is checked with the inputs' JSON
Schema, and fields without templates with their validators. Problems of all fields are reported.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from executions.definition.catalog import ConfigProblem

if TYPE_CHECKING:
    from runners.modules.base import Module

# jsonschema is imported where it is used: it takes a second to load, and workers rarely need it.
SchemaError = Any

TEMPLATE_MARK = "{{"
JSON_NAMES = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
SHOWN_CHARACTERS = 60


def check(module: "Module[Any]", config: Any) -> list[ConfigProblem]:
    """Return the problems of a `with`; the module's own check runs only if there are no others."""
    if not isinstance(config, Mapping):
        return [ConfigProblem((), "type", f"expected an object, found {_shown(config)}")]
    found = list(_schema_problems(module.Inputs, config))
    found += _field_problems(module.Inputs, config, already={p.pointer[:1] for p in found})
    # A module's own check relies on the schema, so it runs only if the schema has found no problem.
    return found or module.more_problems(config)


def holds_template(value: Any) -> bool:
    """Return whether the value contains a template."""
    if isinstance(value, str):
        return TEMPLATE_MARK in value
    if isinstance(value, Mapping):
        return any(holds_template(item) for item in value.values())
    if isinstance(value, list):
        return any(holds_template(item) for item in value)
    return False


def _schema_problems(inputs: type[BaseModel], config: Any) -> Iterator[ConfigProblem]:
    for error in _validator(inputs).iter_errors(config):
        yield from _explain(error)


@lru_cache(maxsize=256)
def _validator(inputs: type[BaseModel]) -> Any:
    return _template_tolerant()(inputs.model_json_schema(by_alias=True))


@lru_cache(maxsize=1)
def _template_tolerant() -> Any:
    """Return a JSON Schema 2020-12 validator whose keywords all accept a string with a template."""
    from jsonschema import Draft202012Validator, validators

    def tolerant(rule: Any) -> Any:
        def checked(validator: Any, argument: Any, instance: Any, schema: Any) -> Any:
            if isinstance(instance, str) and TEMPLATE_MARK in instance:
                return ()
            return rule(validator, argument, instance, schema) or ()

        return checked

    rules = {name: tolerant(rule) for name, rule in Draft202012Validator.VALIDATORS.items()}
    return validators.extend(Draft202012Validator, rules)  # type: ignore[no-untyped-call]


def _explain(error: SchemaError) -> Iterator[ConfigProblem]:
    from jsonschema.exceptions import best_match

    error = best_match([error])
    pointer = tuple(error.absolute_path)
    known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    if error.validator == "additionalProperties" and isinstance(error.instance, Mapping):
        for key in error.instance.keys() - known.keys():
            message = f"unknown key {key!r}; known keys: {', '.join(sorted(known)) or 'none'}"
            yield ConfigProblem((*pointer, key), "unknown_key", message)
    elif error.validator == "required":
        # jsonschema raises one error per missing key. Find that key through the error's message.
        for key in error.validator_value:
            if key not in error.instance and error.message.startswith(f"{key!r} "):
                yield ConfigProblem((*pointer, key), "required", f"{key!r} is required")
    else:
        yield ConfigProblem(pointer, _code(error), _sentence(error))


def _code(error: SchemaError) -> str:
    return "type" if error.validator in ("type", "anyOf") else "value"


def _sentence(error: SchemaError) -> str:
    expected, found = error.validator_value, _shown(error.instance)
    if error.validator == "type":
        return f"expected {_type_names([expected])}, found {found}"
    if error.validator == "anyOf":
        kinds = [branch.get("type", "another shape") for branch in expected]
        return f"expected {_type_names(kinds)}, found {found}"
    if error.validator == "enum":
        return f"expected one of {', '.join(map(str, expected))}, found {found}"
    if error.validator in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"):
        bound = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than"}
        return f"expected {bound.get(error.validator, 'less than')} {expected}, found {found}"
    return f"expected {error.validator} {_shown(expected)}, found {found}"


def _type_names(kinds: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(JSON_NAMES.get(kind, kind) for kind in kinds))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def _field_problems(
    inputs: type[BaseModel], config: Mapping[str, Any], already: set[tuple[str | int, ...]]
) -> list[ConfigProblem]:
    """Return the problems that the fields' validators find in values without templates."""
    unknowable = {key for key, value in config.items() if holds_template(value)}
    try:
        inputs.model_validate(config)
    except ValidationError as error:
        return [
            ConfigProblem(
                _pointer(problem["loc"], config),
                "value",
                problem["msg"].removeprefix("Value error, "),
            )
            for problem in error.errors(include_url=False, include_input=False)
            if problem["loc"][:1] not in already
            and not unknowable.intersection(problem["loc"][:1])
            and not (unknowable and not problem["loc"])
        ]
    return []


def _pointer(location: tuple[str | int, ...], config: Any) -> tuple[str | int, ...]:
    """Return pydantic's location without the parts that only name a member of a union."""
    path: list[str | int] = []
    for part in location:
        if isinstance(config, Mapping) and part in config:
            config = config[str(part)]
        elif isinstance(config, list) and isinstance(part, int) and part < len(config):
            config = config[part]
        else:
            continue
        path.append(part)
    return tuple(path)
