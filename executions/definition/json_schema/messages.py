"""Sentences about violated rules for readers who may not see values.

A sentence is built from the rule and the schema. It can contain names of properties, because errors
name the fields, but no other part of the value.
"""

from typing import Any

MAX_SENTENCE = 300
# The messages of these rules, which `keywords` writes, contain only the schema and names.
_WITHOUT_VALUES = frozenset(
    {
        "additionalProperties", "const", "dependentRequired", "required", "unevaluatedItems",
        "unevaluatedProperties", "uniqueItems",
    }
)  # fmt: skip
# The sentences of the other rules; {} is the rule's argument.
_SENTENCES = {
    "anyOf": "it is not valid under any of the given schemas",
    "contains": "it does not contain items matching the given schema",
    "enum": "it is not one of {}",
    "exclusiveMaximum": "it is greater than or equal to the maximum of {}",
    "exclusiveMinimum": "it is less than or equal to the minimum of {}",
    "format": "it does not have the format {}",
    "maxContains": "more items match the given schema than the maximum of {}",
    "maxItems": "it has more items than the maximum of {}",
    "maxLength": "it has more characters than the maximum of {}",
    "maxProperties": "it has more properties than the maximum of {}",
    "maximum": "it is greater than the maximum of {}",
    "minContains": "fewer items match the given schema than the minimum of {}",
    "minItems": "it has fewer items than the minimum of {}",
    "minLength": "it has fewer characters than the minimum of {}",
    "minProperties": "it has fewer properties than the minimum of {}",
    "minimum": "it is less than the minimum of {}",
    "multipleOf": "it is not a multiple of {}",
    "not": "it should not be valid under {}",
    "pattern": "it does not match {}",
}
_EMPTY = ("maxItems", "maxLength", "maxProperties")
_NON_EMPTY = ("minItems", "minLength", "minProperties")


def without_value(error: Any) -> str:
    """Return a sentence about one of the library's errors, without the value."""
    rule, argument = error.validator, error.validator_value
    sentence = error.message if rule in _WITHOUT_VALUES else _built(rule, argument, error)
    return str(sentence)[:MAX_SENTENCE]


def _built(rule: str | None, argument: Any, error: Any) -> str:
    if rule is None:  # the schema `false`
        return "no value is allowed here"
    if rule == "type":
        types = [argument] if isinstance(argument, str) else argument
        return f"it is not of type {', '.join(map(repr, types))}"
    if rule == "oneOf" and not error.context:
        return "it is valid under more than one of the given schemas"
    if rule == "items":  # `items: false` allows no further items, so this is an error of the list
        rule, argument = "maxItems", len(error.schema.get("prefixItems", ()))
    if rule in _EMPTY and argument == 0:
        return "it is expected to be empty"
    if rule in _NON_EMPTY and argument == 1:
        return "it should be non-empty"
    sentence = _SENTENCES.get("anyOf" if rule == "oneOf" else rule, f"it violates `{rule}`")
    return sentence.replace("{}", brief(argument))


def brief(value: Any) -> str:
    """Return a value for messages: as Python writes it, shortened."""
    if isinstance(value, dict | list) and len(value) > 20:
        return f"{type(value).__name__} of {len(value):,}"
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
