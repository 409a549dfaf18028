"""The document's examples are recorded from real answers (`make examples`), and are current."""

import json
import os
from typing import Any

import pytest
from rest_framework.renderers import JSONRenderer

from executions.api import openapi
from executions.api.openapi import EXAMPLES, examples, operations
from tests.contract.scenario import play

pytestmark = [pytest.mark.django_db]
# Always rejected; or called by a partner with the partner's own body; or not JSON; or large.
WITHOUT = {"createTrigger", "deleteTrigger", "receiveCallback", "exportActivity"} | {
    "exportDeadLetterQueue",
    "getDeadLetterEntryAsCurl",
    "getDeadLetterEntryAsPytest",
    "getRunOutput",
    "getStoredValue",
    "getWorkflowExecutionOutput",
}


def test_a_day_with_the_api_can_be_played_and_is_what_the_document_shows(settings: Any) -> None:
    settings.VALKYR = settings.VALKYR | {"PUBLIC_URL": "https://valkyr.example.org"}
    document = json.loads(JSONRenderer().render(openapi.document()))

    played = play(document)

    if os.environ.get("VALKYR_RECORD_EXAMPLES"):
        EXAMPLES.write_text(json.dumps(played, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
        examples.cache_clear()
    shown = {op["operationId"]: op for _, _, op in operations(document)}
    missing = {
        name
        for name, op in shown.items()
        if name not in WITHOUT and needs_example(op) and not examples().get(name)
    }
    assert not missing, (
        f"`make examples` records them, once tests/contract/scenario.py asks: {missing}"
    )
    for name, kept in played.items():
        assert fields(examples().get(name, {}).get("answers")) == fields(kept.get("answers")), (
            f"{name} answers otherwise by now; `make examples` records it anew"
        )


def needs_example(described: dict[str, Any]) -> bool:
    """Return whether an operation has JSON to show."""
    bodies = [described.get("requestBody", {}), *described["responses"].values()]
    return any("application/json" in body.get("content", {}) for body in bodies)


def fields(answers: Any) -> dict[str, Any]:
    """Return the field names of each answer: of an object, or of a list's first object."""
    out = {}
    for status, body in (answers or {}).items():
        first = body[0] if isinstance(body, list) and body else body
        out[status] = sorted(first) if isinstance(first, dict) else type(first).__name__
    return out
