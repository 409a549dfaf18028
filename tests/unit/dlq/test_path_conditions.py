"""Conditions on inputs by path: the accepted forms, and the reason for each rejected one."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlq.browse.path_conditions import BadCondition, condition, from_form, from_text, several

NAMES = st.text("abcdefghi:-_ ", min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-10, 10) | st.text('ab"\\:ß', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=5,
)


def test_equality_is_containment_of_the_value_under_its_path() -> None:
    assert from_text('order.country:eq:"DE"').documents == [{"order": {"country": "DE"}}]


def test_an_array_contains_a_single_value() -> None:
    assert from_text('tags:contains:"x"').documents == [{"tags": ["x"]}]


def test_brackets_look_into_each_object_of_an_array() -> None:
    assert from_text('order.lines[].sku:eq:"A1"').documents == [
        {"order": {"lines": [{"sku": "A1"}]}}
    ]


def test_an_object_is_contained_in_an_object_or_in_an_array_of_them() -> None:
    assert from_text('lines:contains:{"sku":"A1"}').documents == [
        {"lines": [{"sku": "A1"}]},
        {"lines": {"sku": "A1"}},
    ]


def test_a_whole_object_is_compared_exactly() -> None:
    assert from_text('order:eq:{"id":1}').exact_path == ["order"]
    assert from_text("order.id:eq:1").exact_path == []


def test_what_a_person_types_is_json_or_else_text() -> None:
    assert from_form("n", "eq", "12").value == 12
    assert from_form("n", "eq", "DE").value == "DE"
    assert from_form("n", "eq", '"12"').value == "12"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("order.country", "is not a condition"),
        ("order..country:eq:1", "expected at most 12 names"),
        (":eq:1", "A path is text"),
        ("a:eq:DE", "is not valid JSON"),
        ("a:eq:NaN", "NaN is not a JSON value"),
        ("a:eq:" + "[" * 100_000, "nested too deeply"),
        ('a:eq:"\\u0000"', "NUL character"),
        ('a:eq:"\\ud800"', "not JSON that PostgreSQL can store"),
        (f'a:eq:"{"x" * 2_000}"', "at most 1,000"),
        ("[].a:eq:1", "expected at most 12 names"),
        ('lines[].sku:eq:{"a":1}', "use contains"),
    ],
)
def test_a_bad_condition_says_what_is_wrong(text: str, reason: str) -> None:
    with pytest.raises(BadCondition, match=reason):
        from_text(text)


def test_only_so_many_conditions_are_taken() -> None:
    with pytest.raises(BadCondition, match="At most 5"):
        several([{"path": "a", "op": "eq", "value": 1}] * 6)


@given(st.lists(NAMES, min_size=1, max_size=3), st.sampled_from(["eq", "contains"]), VALUES)
def test_a_condition_survives_its_address(names: list[str], op: str, value: Any) -> None:
    made = condition(".".join(names), op, value)

    assert from_text(made.as_text) == made


@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(text: str) -> None:
    with suppress(BadCondition):
        from_text(text)
