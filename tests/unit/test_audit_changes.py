"""The audit trail's record of a change: the differences, in JSON, bounded, and without secrets."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as some

from executions.audit.changes import CHANGED, LONGEST, difference, told

PLAIN = some.dictionaries(some.text(), some.none() | some.booleans() | some.integers())


def test_only_what_differs_is_kept() -> None:
    before = {"name": "old", "enabled": True, "gone": 1}
    after = {"name": "new", "enabled": True, "added": 2}

    assert difference(before, after) == (
        {"name": "old", "added": None},
        {"name": "new", "added": 2},
    )


@given(PLAIN)
def test_what_is_as_it_was_is_no_difference(values: dict[str, Any]) -> None:
    assert difference(values, dict(values)) == ({}, {})


@pytest.mark.parametrize(
    "name", ["password", "new_password1", "clientSecret", "api_key", "apiKey", "digest"]
)
def test_that_a_secret_changed_is_told_and_not_what_it_was(name: str) -> None:
    assert difference({name: "old"}, {name: "new"}) == ({name: CHANGED}, {name: CHANGED})
    assert told({"settings": {name: "x"}}) == {"settings": {name: CHANGED}}
    assert difference({name: ""}, {name: "new"}) == ({name: ""}, {name: CHANGED})


def test_values_become_json() -> None:
    values = {
        "at": datetime(2026, 11, 1, tzinfo=UTC),
        "id": UUID(int=1),
        "roles": {"b", "a"},
        "nested": {"deep": (1, 2)},
    }

    assert json.loads(json.dumps(told(values))) == {
        "at": "2026-11-01T00:00:00+00:00",
        "id": "00000000-0000-0000-0000-000000000001",
        "roles": ["a", "b"],
        "nested": {"deep": [1, 2]},
    }


def test_a_long_text_is_told_by_its_beginning_and_its_checksum() -> None:
    [text] = told({"text": "x" * 5_000}).values()

    assert text.startswith("x" * LONGEST + "… (5,000 characters, SHA-256 ")
    assert len(text) < LONGEST + 120
