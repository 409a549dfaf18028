"""The template with which a user begins to enter a step's outputs."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from dlq.resolve.fix_or_skip import shape
from runners.modules import registry


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer"}, 0),
        ({"type": "string", "examples": ["ch_1"]}, "ch_1"),
        ({"enum": ["paid", "open"]}, "paid"),
        ({"anyOf": [{"type": "array"}, {"type": "null"}]}, []),
        ({"type": "object", "properties": {"a": {"type": "boolean"}, "b": {}}, "required": ["a"]},
         {"a": False}),
        ({"$ref": "#/$defs/X", "$defs": {"X": {"type": "number"}}}, 0),
        ({}, None),
    ],
)  # fmt: skip
def test_a_schema_gives_a_value_as_empty_as_can_be(schema: dict[str, Any], expected: Any) -> None:
    assert shape(schema) == expected


def test_a_schema_that_holds_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    assert shape({"$ref": "#/$defs/Node", "$defs": {"Node": node}})


@pytest.mark.plugins
@pytest.mark.parametrize("kind", ["http.request", "data.set", "email.send", "file.read"])
def test_the_shape_of_a_modules_outputs_breaks_no_schema(kind: str) -> None:
    outputs = registry.get(kind).Outputs
    if outputs is None:
        return
    schema = outputs.model_json_schema(mode="serialization")
    assert list(Draft202012Validator(schema).iter_errors(shape(schema))) == []
