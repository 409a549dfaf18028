"""Sentences about violated rules explain the problem without the value."""

from typing import Any

import pytest
from hypothesis import example, given
from jsonschema import Draft202012Validator

from executions.definition.json_schema.budget import REQUEST, EvaluationBudget
from executions.definition.json_schema.checking import mistakes, validator
from tests.support.json_schemas import schemas, values

# Markers in values; no schema of these tests contains them.
TEXT, NUMBER = "S3CRET", 918_273_645
CUT = 40  # so many markers are too long for a message


def sentences(schema: Any, value: Any) -> list[str]:
    found = mistakes(validator(schema), value, EvaluationBudget(REQUEST), 100)
    return [one.without_value for one in found]


# For each rule: a schema, a value that violates it, and the sentence.
RULES: dict[str, list[tuple[Any, Any, str]]] = {
    "additionalProperties": [
        (
            {"additionalProperties": False},
            {"b": TEXT, "a": NUMBER},
            "Additional properties are not allowed ('a', 'b')",
        ),
        ({"additionalProperties": {"type": "null"}}, {"a": TEXT}, "it is not of type 'null'"),
    ],
    "allOf": [({"allOf": [{"type": "null"}]}, TEXT, "it is not of type 'null'")],
    "anyOf": [({"anyOf": [False]}, TEXT, "it is not valid under any of the given schemas")],
    "const": [({"const": "a"}, TEXT, "'a' was expected")],
    "contains": [
        (
            {"contains": {"const": 1}},
            [TEXT, [NUMBER]],
            "it does not contain items matching the given schema",
        ),
        (
            {"contains": {"type": "string"}, "minContains": 2},
            [TEXT],
            "fewer items match the given schema than the minimum of 2",
        ),
        (
            {"contains": {"type": "string"}, "maxContains": 1},
            [TEXT, TEXT],
            "more items match the given schema than the maximum of 1",
        ),
    ],
    "dependentRequired": [
        ({"dependentRequired": {"a": ["b"]}}, {"a": TEXT}, "'b' is a dependency of 'a'")
    ],
    "dependentSchemas": [
        (
            {"dependentSchemas": {"a": {"maxProperties": 0}}},
            {"a": TEXT},
            "it is expected to be empty",
        )
    ],
    "enum": [
        ({"enum": ["a", "b"]}, TEXT, "it is not one of ['a', 'b']"),
        ({"enum": ["a", "b"]}, TEXT * CUT, "it is not one of ['a', 'b']"),
        ({"enum": [[1], {}]}, [TEXT, {"a": TEXT}] * CUT, "it is not one of [[1], {}]"),
        ({"enum": list(range(30))}, NUMBER, "it is not one of list of 30"),
    ],
    "exclusiveMaximum": [
        ({"exclusiveMaximum": 2}, NUMBER, "it is greater than or equal to the maximum of 2")
    ],
    "exclusiveMinimum": [
        ({"exclusiveMinimum": 2}, -NUMBER, "it is less than or equal to the minimum of 2")
    ],
    "format": [({"format": "ipv4"}, TEXT, "it does not have the format 'ipv4'")],
    "if": [({"if": True, "then": {"type": "null"}}, TEXT, "it is not of type 'null'")],
    "items": [
        ({"items": False}, [TEXT], "it is expected to be empty"),
        (
            {"prefixItems": [{}, {}], "items": False},
            [1, 2, TEXT, TEXT],
            "it has more items than the maximum of 2",
        ),
        ({"items": {"type": "null"}}, [TEXT], "it is not of type 'null'"),
    ],
    "maxItems": [({"maxItems": 1}, [TEXT, TEXT], "it has more items than the maximum of 1")],
    "maxLength": [({"maxLength": 3}, TEXT, "it has more characters than the maximum of 3")],
    "maxProperties": [
        ({"maxProperties": 1}, {"a": TEXT, "b": 1}, "it has more properties than the maximum of 1")
    ],
    "maximum": [({"maximum": 2}, NUMBER, "it is greater than the maximum of 2")],
    "minItems": [
        ({"minItems": 2}, [TEXT], "it has fewer items than the minimum of 2"),
        ({"minItems": 1}, [], "it should be non-empty"),
    ],
    "minLength": [({"minLength": 30}, TEXT, "it has fewer characters than the minimum of 30")],
    "minProperties": [
        ({"minProperties": 2}, {"a": TEXT}, "it has fewer properties than the minimum of 2")
    ],
    "minimum": [({"minimum": 2}, -NUMBER, "it is less than the minimum of 2")],
    "multipleOf": [({"multipleOf": 2}, NUMBER, "it is not a multiple of 2")],
    "not": [({"not": {"type": "string"}}, TEXT, "it should not be valid under {'type': 'string'}")],
    "oneOf": [
        ({"oneOf": [False, False]}, TEXT, "it is not valid under any of the given schemas"),
        ({"oneOf": [{}, {}]}, TEXT, "it is valid under more than one of the given schemas"),
    ],
    "pattern": [({"pattern": "^a"}, TEXT, "it does not match '^a'")],
    "patternProperties": [
        ({"patternProperties": {"^a": False}}, {"a": TEXT}, "no value is allowed here")
    ],
    "prefixItems": [({"prefixItems": [False]}, [TEXT], "no value is allowed here")],
    "properties": [({"properties": {"a": False}}, {"a": TEXT}, "no value is allowed here")],
    "propertyNames": [
        ({"propertyNames": {"pattern": "^a"}}, {TEXT: NUMBER}, "it does not match '^a'"),
        ({"propertyNames": {"enum": ["a"]}}, {TEXT * CUT: 1}, "it is not one of ['a']"),
    ],
    "required": [({"required": ["a", "b"]}, {"a": TEXT}, "'b' is a required property")],
    "type": [
        ({"type": ["null", "object"]}, TEXT, "it is not of type 'null', 'object'"),
        ({"type": "string"}, [[NUMBER] * 50_000], "it is not of type 'string'"),
        ({"type": "null"}, {"a": [TEXT]}, "it is not of type 'null'"),
    ],
    "unevaluatedItems": [
        ({"unevaluatedItems": False}, [TEXT], "Unevaluated items are not allowed")
    ],
    "unevaluatedProperties": [
        (
            {"unevaluatedProperties": False},
            {"a": TEXT},
            "Unevaluated properties are not allowed ('a')",
        )
    ],
    "uniqueItems": [({"uniqueItems": True}, [TEXT, TEXT], "the list has items that are equal")],
    "$ref": [
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"enum": ["a"]}}},
            TEXT * CUT,
            "it is not one of ['a']",
        )
    ],
    "$dynamicRef": [
        ({"$dynamicRef": "#/$defs/a", "$defs": {"a": {"const": 1}}}, TEXT, "1 was expected")
    ],
}


def test_the_table_has_every_rule_of_the_library() -> None:
    assert RULES.keys() == Draft202012Validator.VALIDATORS.keys()


@pytest.mark.parametrize(
    ("schema", "value", "sentence"), [case for cases in RULES.values() for case in cases]
)
def test_a_sentence_names_the_rule_and_not_the_value(
    schema: Any, value: Any, sentence: str
) -> None:
    assert sentences(schema, value) == [sentence]


def marked(value: Any) -> Any:
    """Return a value whose texts and numbers all contain a marker; names are unchanged."""
    if isinstance(value, dict):
        return {name: marked(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [marked(inner) for inner in value]
    if isinstance(value, str):
        return value + TEXT * (CUT if value else 1)
    return value if value is None or isinstance(value, bool) else NUMBER + value


@given(schemas(), values().map(marked))
@example({"prefixItems": [{}], "items": False}, [1, TEXT])
@example({"items": False}, [NUMBER, TEXT])
@example({"enum": ["a", "b"]}, TEXT * CUT)
def test_no_sentence_contains_a_part_of_the_value(schema: Any, value: Any) -> None:
    for sentence in sentences(schema, value):
        assert TEXT[:3] not in sentence
        assert str(NUMBER)[:5] not in sentence
        assert "violates" not in sentence
