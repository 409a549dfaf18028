"""The targets of references in a JSON schema, and the validator at a target."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from executions.vendor_seams.jsonschema_references import referenced

SEE = "jsonschema has changed: see executions/vendor_seams/jsonschema_references.py"
SCHEMA: dict[str, Any] = {
    "$id": "https://valkyr.example/root",
    "$defs": {
        "short": {"$id": "nested", "$defs": {"own": {"maxLength": 3}}, "$ref": "#/$defs/own"},
        "own": {"maxLength": 100},
    },
}


@pytest.mark.parametrize("reference", ["#/$defs/short", "nested"])
def test_a_reference_leads_to_its_schema(reference: str) -> None:
    contents, _ = referenced(Draft202012Validator(SCHEMA), reference)

    assert contents == SCHEMA["$defs"]["short"], SEE


def test_references_of_that_schema_are_resolved_from_there() -> None:
    _, there = referenced(Draft202012Validator(SCHEMA), "nested")

    contents, validator = referenced(there, "#/$defs/own")
    assert contents == {"maxLength": 3}, SEE
    assert not validator.is_valid("four"), SEE
