"""Definitions are written for readers: keys in the schema's order, and no other changes."""

from pathlib import Path
from typing import Any

import pytest

from executions.definition.graph.document import load_text
from executions.definition.graph.yaml_document import definition_yaml
from executions.definition.graph.yaml_text import read_yaml
from tests.support.stack import PROJECT

EXAMPLES = [
    file
    for file in sorted((PROJECT / "examples").rglob("*.yaml"))
    if "schema: valkyr/1" in file.read_text() and "tasks:" in file.read_text()
]


def as_stored(value: Any) -> Any:
    """Sort the keys as PostgreSQL's jsonb does: by length, then by bytes."""
    if isinstance(value, list):
        return [as_stored(item) for item in value]
    if isinstance(value, dict):
        return {
            key: as_stored(value[key]) for key in sorted(value, key=lambda key: (len(key), key))
        }
    return value


def test_keys_have_the_order_of_the_schema() -> None:
    stored = as_stored(
        {
            "schema": "valkyr/1",
            "name": "invoices",
            "input": {
                "type": "object",
                "required": ["type"],
                "properties": {"type": {"type": "integer", "minimum": 1}},
                "additionalProperties": False,
            },
            "tasks": [
                {
                    "id": "check",
                    "use": "data.set",
                    "with": {"values": {"b": 1, "aa": 2}},
                    "retry": {"maxAttempts": 3},
                },
            ],
            "edges": [{"from": "check", "to": "check", "on": "success"}],
        }
    )

    assert definition_yaml(stored) == (
        "schema: valkyr/1\n"
        "name: invoices\n"
        "input:\n"
        "  type: object\n"
        "  required:\n"
        "  - type\n"
        "  properties:\n"
        "    type:\n"
        "      type: integer\n"
        "      minimum: 1\n"
        "  additionalProperties: false\n"
        "tasks:\n"
        "- id: check\n"
        "  use: data.set\n"
        "  with:\n"
        "    values:\n"
        "      b: 1\n"
        "      aa: 2\n"
        "  retry:\n"
        "    maxAttempts: 3\n"
        "edges:\n"
        "- from: check\n"
        "  to: check\n"
        "  'on': success\n"
    )


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.parent.name + "/" + file.name)
def test_examples_are_read_back_as_equal_documents(file: Path) -> None:
    document = load_text(file.read_text(), content_type="yaml")

    again = load_text(definition_yaml(as_stored(document)), content_type="yaml")

    assert again == document
    assert list(again)[:2] == ["schema", "name"]


@pytest.mark.parametrize(
    "broken",
    [None, [], "text", {}, {"tasks": 3, "edges": {"from": 1}}, {"tasks": [1, {"use": []}]},
     {"input": [1], "name": {"a": 1}}, {"input": {"properties": [], "anyOf": {"type": 1}}}],
)  # fmt: skip
def test_a_document_of_another_shape_is_written_as_it_is(broken: Any) -> None:
    assert read_yaml(definition_yaml(broken)) == broken
