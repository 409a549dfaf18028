"""The marked values of a failed step's inputs."""

from typing import Any

import pytest

from dlq.comparing.difference import compare
from dlq.comparing.suspects import FEW_DIFFERENCES, MAX_MARKED, suspects

ORDER = {"data": {"country": "UK", "lines": [{"sku": "A-1"}, {"sku": "B-77"}], "total": 120045}}


def told(inputs: Any, error: str, details: Any = None, good: Any = None) -> list[tuple[str, str]]:
    against = None if good is None else compare({"inputs": good}, {"inputs": inputs})
    found = suspects(inputs, error, details, against)
    return [(suspect.where, suspect.reason.value) for suspect in found]


@pytest.mark.parametrize(
    ("error", "marked"),
    [
        ("country: 'UK' is not one of ['GB', 'FR']", ["data.country"]),
        ('no article "B-77"', ["data.lines[1].sku"]),
        ("120045 is more than the limit of 9999", ["data.total"]),
        ("1200456 is more than the limit", []),
        ("HTTP 422: UK is unknown", []),  # too short to be found without quotes
        ("", []),
    ],
)
def test_a_value_that_the_error_quotes_is_marked(error: str, marked: list[str]) -> None:
    assert told(ORDER, error) == [(path, "named") for path in marked]


@pytest.mark.parametrize(
    "details",
    [
        {"errors": [{"field": "country", "rule": "enum"}]},
        [{"field": "data.country", "code": "enum"}],
        {"problems": [{"field": "data.country"}]},
    ],
)
def test_a_field_of_the_details_is_marked(details: Any) -> None:
    assert told(ORDER, "it does not fit", details) == [("data.country", "named")]


@pytest.mark.parametrize("details", [None, "country", {"errors": "x"}, [1, {"field": None}], 7])
def test_other_details_mark_nothing(details: Any) -> None:
    assert told(ORDER, "it does not fit", details) == []


def test_what_differs_from_a_good_run_is_marked_after_what_is_named() -> None:
    good = {"data": {"country": "FR", "lines": [{"sku": "A-1"}], "total": 120045}}

    assert told(ORDER, "no article 'B-77'", good=good) == [
        ("data.lines[1].sku", "named"),
        ("data.country", "different"),
    ]


def test_a_value_of_the_error_that_a_good_run_had_too_is_not_marked() -> None:
    good = {"data": ORDER["data"] | {"country": "FR", "lines": [{"sku": "A-1"}, {"sku": "B-77"}]}}

    assert told(ORDER, "'UK' is not one of 'B-77'", good=good) == [("data.country", "named")]
    assert told(ORDER, "'UK' is unknown", good=ORDER) == [("data.country", "named")]


def test_many_differences_mark_nothing() -> None:
    inputs = {str(n): n for n in range(FEW_DIFFERENCES + 1)}

    assert told(inputs, "broken", good=dict.fromkeys(inputs, -1)) == []


def test_marks_are_bounded_and_deep_values_are_read() -> None:
    deep: Any = "bad-value"
    for _ in range(2_000):
        deep = [deep]

    assert len(told(["bad-value"] * 1_000, "'bad-value'")) == MAX_MARKED
    assert len(told(deep, "'bad-value'")) == 1
    assert told(["x"] * 100_000, "'y'") == []
