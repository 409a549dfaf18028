"""Keywords that the library checks without a limit, checked here in linear time.

`pattern` and similar keywords use RE2; `uniqueItems`, `enum` and `const` compare strings;
`unevaluated…` look names up in sets. `required` and `dependentRequired` have messages here that
contain only names. The library checks every other keyword; its work is charged.
"""

import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from executions.definition.json_schema.budget import (
    CHARACTERS,
    INSTRUCTIONS,
    EvaluationBudget,
    current,
)
from executions.definition.json_schema.messages import brief
from executions.definition.patterns import Pattern, pattern
from executions.vendor_seams.jsonschema_references import referenced

Rule = Callable[[Any, Any, Any, Any], Any]
# In-place applicators: their schemas are checked against the same value.
_BRANCHES = ("allOf", "anyOf", "oneOf")
_REFERENCES = ("$ref", "$dynamicRef")
REFERENCE_COST = 4
# Costs in evaluations. A reference is resolved directly, a dynamic one in every schema on the path
# to it.
_COSTS = {"$ref": REFERENCE_COST, "$dynamicRef": 20}
# Names or items of a value that cost one evaluation.
PARTS = 4


def charged(keyword: str, rule: Rule) -> Rule:
    """Return `rule` as a function that charges its cost and errors to the current budget."""
    fixed = _COSTS.get(keyword, 1)
    # The cost of these keywords does not grow with the value, or is charged elsewhere.
    is_fixed = keyword in (*_REFERENCES, *_BRANCHES, "type", "if", "not", "minimum", "maximum")

    @functools.wraps(rule)
    def checked(validator: Any, argument: Any, instance: Any, schema: Any) -> Iterator[Any]:
        budget = current()
        budget.spend(fixed if is_fixed else 1 + _size(argument, instance))
        for error in rule(validator, argument, instance, schema) or ():
            # The message may contain the whole value again.
            budget.spend(len(error.message) // CHARACTERS)
            yield error

    return checked


def _size(argument: Any, instance: Any) -> int:
    """Return the number of evaluations to charge for reading the value and the argument."""
    if isinstance(instance, str):
        return len(instance) // CHARACTERS
    if not isinstance(instance, dict | list):
        return 0
    own = len(argument) if isinstance(argument, dict | list) else 0
    return (len(instance) + own) // PARTS


def check_pattern(validator: Any, text: str, instance: Any, schema: Any) -> Iterator[Any]:
    """Check `pattern`: yield an error if the pattern does not match anywhere in the string."""
    from jsonschema import ValidationError

    if isinstance(instance, str) and not _matches(pattern(text), instance):
        yield ValidationError(f"{instance!r} does not match {text!r}")


def check_pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[Any]:
    """Check `patternProperties`: yield errors in the values whose names match a pattern."""
    if not isinstance(instance, dict):
        return
    for text, subschema in patterns.items():
        compiled = pattern(text)
        for name, value in instance.items():
            if _matches(compiled, name):
                yield from validator.descend(value, subschema, path=name, schema_path=text)


def check_additional_properties(
    validator: Any, subschema: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    """Check `additionalProperties`: yield errors of properties that the schema does not name."""
    from jsonschema import ValidationError

    if not isinstance(instance, dict):
        return
    extra = [name for name in instance if not _is_named(name, schema)]
    if subschema is False:
        if extra:
            names = ", ".join(map(repr, sorted(extra)[:10]))
            yield ValidationError(f"Additional properties are not allowed ({names})")
    elif subschema is not True:
        for name in extra:
            yield from validator.descend(instance[name], subschema, path=name)


def check_unique_items(validator: Any, wanted: bool, instance: Any, schema: Any) -> Iterator[Any]:
    """Check `uniqueItems`: yield an error if two items are equal."""
    from jsonschema import ValidationError

    if not wanted or not isinstance(instance, list):
        return
    budget = current()
    seen = set()
    for item in instance:
        text = canonical(item, budget)
        if text in seen:
            yield ValidationError("the list has items that are equal")
            return
        seen.add(text)


def check_enum(validator: Any, options: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check `enum`: yield an error if the value equals none of the options."""
    from jsonschema import ValidationError

    if not _is_one_of(instance, options):
        yield ValidationError(f"{brief(instance)} is not one of {brief(options)}")


def check_const(validator: Any, option: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check `const`: yield an error if the value does not equal the option."""
    from jsonschema import ValidationError

    if not _is_one_of(instance, [option]):
        yield ValidationError(f"{brief(option)} was expected")


def check_required(validator: Any, names: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """Check `required`: yield an error for each missing property."""
    from jsonschema import ValidationError

    for name in names if isinstance(instance, dict) else ():
        if name not in instance:
            yield ValidationError(f"{name!r} is a required property")


def check_dependent_required(
    validator: Any, needed: Mapping[str, Any], instance: Any, schema: Any
) -> Iterator[Any]:
    """Check `dependentRequired`: yield an error for each missing property that another requires."""
    from jsonschema import ValidationError

    for name, others in needed.items() if isinstance(instance, dict) else ():
        for other in others if name in instance else ():
            if other not in instance:
                yield ValidationError(f"{other!r} is a dependency of {name!r}")


def check_unevaluated_properties(
    validator: Any, subschema: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    """Yield an error if `unevaluatedProperties` rejects a value not evaluated elsewhere."""
    from jsonschema import ValidationError

    if not isinstance(instance, dict):
        return
    known = _evaluated(validator, instance, schema, _names_of)
    bad = [
        name
        for name in instance
        if name not in known and any(True for _ in validator.descend(instance[name], subschema))
    ]
    if bad:
        names = ", ".join(map(repr, sorted(bad)[:10]))
        yield ValidationError(f"Unevaluated properties are not allowed ({names})")


def check_unevaluated_items(
    validator: Any, subschema: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    """Yield an error if `unevaluatedItems` rejects an item not evaluated elsewhere."""
    from jsonschema import ValidationError

    if not isinstance(instance, list):
        return
    known = _evaluated(validator, instance, schema, _items_of)
    for place, item in enumerate(instance):
        if place in known:
            continue
        if any(True for _ in validator.descend(item, subschema)):
            yield ValidationError("Unevaluated items are not allowed")
            return


OWN: dict[str, Rule] = {
    "pattern": check_pattern,
    "patternProperties": check_pattern_properties,
    "additionalProperties": check_additional_properties,
    "uniqueItems": check_unique_items,
    "enum": check_enum,
    "const": check_const,
    "required": check_required,
    "dependentRequired": check_dependent_required,
    "unevaluatedProperties": check_unevaluated_properties,
    "unevaluatedItems": check_unevaluated_items,
}


def _matches(compiled: Pattern, text: str) -> bool:
    current().spend(1 + compiled.work(len(text)) // INSTRUCTIONS)
    return compiled.found_in(text)


def _is_named(name: str, schema: Mapping[str, Any]) -> bool:
    return name in schema.get("properties", {}) or any(
        _matches(pattern(text), name) for text in schema.get("patternProperties", {})
    )


def _is_one_of(instance: Any, options: Any) -> bool:
    budget = current()
    if isinstance(instance, str):
        budget.spend(len(options) // CHARACTERS)
        return instance in options  # a text can equal only texts
    budget.spend(len(options) // PARTS)
    wanted, kind = canonical(instance, budget), _kind(instance)
    return any(canonical(option, budget) == wanted for option in options if _kind(option) is kind)


def _kind(value: Any) -> type | None:
    """Return a value's kind: dict, list, or None for others. Equal values have the same kind."""
    return dict if isinstance(value, dict) else list if isinstance(value, list) else None


def _evaluated(
    validator: Any, instance: Any, schema: Any, own: Callable[[Any, Any, Any], Iterator[Any]]
) -> set[Any]:
    """Return the names or positions that this schema and its matching subschemas evaluate."""
    budget = current()
    budget.spend(REFERENCE_COST)
    if not isinstance(schema, dict):
        return set()
    found = set(own(validator, instance, schema))
    for key in _REFERENCES:
        if isinstance(schema.get(key), str):
            contents, there = referenced(validator, schema[key])
            found |= _evaluated(there, instance, contents, own)
    for subschema in _fitting(validator, instance, schema):
        found |= _evaluated(validator, instance, subschema, own)
    return found


def _fitting(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the in-place subschemas that apply to the value, such as the branches it matches."""
    for key in _BRANCHES:
        for subschema in schema.get(key, ()):
            if _fits(validator, instance, subschema):
                yield subschema
    if "if" in schema:
        if _fits(validator, instance, schema["if"]):
            yield schema["if"]
            yield schema.get("then", True)
        else:
            yield schema.get("else", True)
    if isinstance(instance, dict):
        for name, subschema in schema.get("dependentSchemas", {}).items():
            if name in instance:
                yield subschema


def _fits(validator: Any, instance: Any, schema: Any) -> bool:
    return next(validator.descend(instance, schema), None) is None


def _names_of(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from schema.get("properties", {}).keys() & instance.keys()
    for text in schema.get("patternProperties", {}):
        yield from (name for name in instance if _matches(pattern(text), name))
    if "additionalProperties" in schema:
        yield from (name for name in instance if not _is_named(name, schema))
    if "unevaluatedProperties" in schema:
        subschema = schema["unevaluatedProperties"]
        yield from (name for name in instance if _fits(validator, instance[name], subschema))


def _items_of(validator: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[int]:
    if "items" in schema:
        yield from range(len(instance))
        return
    yield from range(len(schema.get("prefixItems", ())))
    for key in ("contains", "unevaluatedItems"):
        if key in schema:
            for place, item in enumerate(instance):
                if _fits(validator, item, schema[key]):
                    yield place


def canonical(value: Any, budget: EvaluationBudget) -> str:
    """Return a string that only equal values share; charge each part. Raises BudgetExceeded."""
    parts: list[str] = []
    _write(value, parts, budget)
    return "".join(parts)


def _write(value: Any, parts: list[str], budget: EvaluationBudget) -> None:
    budget.spend(1)
    if isinstance(value, dict):
        parts.append("{")
        for key in sorted(value):
            parts.append(f"{json.dumps(key)}:")
            _write(value[key], parts, budget)
            parts.append(",")
        parts.append("}")
    elif isinstance(value, list | tuple):
        parts.append("[")
        for item in value:
            _write(item, parts, budget)
            parts.append(",")
        parts.append("]")
    elif isinstance(value, float) and value.is_integer():
        parts.append(str(int(value)))  # 1.0 and 1 are the same number
    else:
        parts.append(json.dumps(value))
