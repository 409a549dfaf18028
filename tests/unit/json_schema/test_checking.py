"""Values are checked against hostile and ordinary schemas correctly, and within the budget."""

import json
import re
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from executions.definition.json_schema.budget import (
    DEFINITION,
    REQUEST,
    BudgetExceeded,
    EvaluationBudget,
)
from executions.definition.json_schema.checking import (
    Unresolvable,
    mistakes,
    schema_mistakes,
    validator,
)
from executions.definition.patterns import BadPattern, TooMuchWork, pattern
from tests.support.json_schemas import schemas, values


def found(schema: Any, value: Any, budget: int = REQUEST) -> list[str]:
    """Return the keywords that a value violates."""
    return [one.rule for one in mistakes(validator(schema), value, EvaluationBudget(budget), 100)]


def doubling(levels: int, last: Any) -> dict[str, Any]:
    """Return a schema of `levels` parts that checks a value against `last` 2^levels times."""
    parts: dict[str, Any] = {
        f"p{n}": {"allOf": [{"$ref": f"#/$defs/p{n + 1}"}] * 2} for n in range(levels)
    }
    return {"$ref": "#/$defs/p0", "$defs": parts | {f"p{levels}": last}}


@given(schemas(), values())
def test_a_value_fits_where_the_reference_implementation_says_so(schema: Any, value: Any) -> None:
    expected = Draft202012Validator(schema).is_valid(value)

    assert (found(schema, value) == []) == expected


def test_a_pattern_that_backtracking_never_finishes_is_matched_at_once() -> None:
    schema = {"pattern": r"^([a-zA-Z0-9_.-]+)*@example\.com$"}

    assert found(schema, "a" * 100_000) == ["pattern"]
    assert found(schema, "a" * 30 + "@example.com") == []


DIALECT = "https://json-schema.org/draft/2020-12/schema"
SLOW_IN_RE = r"^([a-zA-Z0-9_.-]+)*@example\.com$"


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"properties": {"a": {"$schema": DIALECT, "pattern": SLOW_IN_RE}}}, {"a": "a" * 60}),
        (
            {"$schema": DIALECT, "properties": {"a": {"pattern": SLOW_IN_RE}, "b": {"$ref": "#"}}},
            {"b": {"a": "a" * 60}},
        ),
    ],
)
def test_a_part_that_names_a_dialect_is_checked_by_the_same_rules(schema: Any, value: Any) -> None:
    assert found(schema, value) == ["pattern"]


def test_templates_of_addresses_are_read_within_the_budget() -> None:
    schema = {"items": {"format": "uri-template"}}
    began = time.process_time()

    assert found(schema, ["/orders/{id}{?page}", "{", "{a}" * 10_000]) == ["format"] * 2
    assert len(found(schema, ["{" * 1_000] * 1_000)) == 100
    with pytest.raises(BudgetExceeded):
        found(schema, ["{a}" * 300] * 1_000)

    assert time.process_time() - began < 2


@pytest.mark.parametrize("heavy", ["((((a{0,10}){0,10}){0,10}))", r"\pL" * 300])
def test_compiling_patterns_is_paid_for(heavy: str) -> None:
    names = [f"{heavy}{n}" for n in range(3_000)]
    schema = {"allOf": [{"not": {"pattern": name}} for name in names]}
    began = time.process_time()

    with pytest.raises(BudgetExceeded):
        found({"items": {"not": {"not": {"format": "regex"}}}}, names)
    with pytest.raises(BudgetExceeded):
        schema_mistakes(schema, EvaluationBudget(DEFINITION), 10_000)

    assert time.process_time() - began < 3


def test_a_number_pays_for_each_option_of_an_enum_that_it_is_compared_with() -> None:
    schema = {"enum": [[n] for n in range(4_000)]}

    assert found(schema, 7) == ["enum"]
    with pytest.raises(BudgetExceeded):
        found(schema, 7, budget=500)


def test_a_schema_of_very_many_parts_is_refused_before_it_takes_seconds() -> None:
    schema = {"properties": {f"f{n}": {} for n in range(10_000)}}

    with pytest.raises(BudgetExceeded):
        schema_mistakes(schema, EvaluationBudget(DEFINITION), 1)


def test_a_schema_of_a_thousand_described_fields_is_checked() -> None:
    field = {"type": "string", "description": "what it is", "maxLength": 20}
    schema = {"type": "object", "properties": {f"f{n}": field for n in range(1_000)}}

    assert schema_mistakes(schema, EvaluationBudget(DEFINITION), 1) == []


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubling(40, {"type": "string"}), "x"),
        ({"items": {"enum": [[n] for n in range(2_000)]}}, [[n] for n in range(20_000)]),
        ({"anyOf": [{"type": "string"}] * 200}, [[1] * 10] * 20_000),
        ({"pattern": ".*a.{500}b"}, "ab" * 100_000),
        ({"unevaluatedProperties": False, **doubling(40, {})}, {"a": 1}),
        (
            {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
            json.loads('{"a":' * 60 + "1" + "}" * 60),
        ),
    ],
    ids=["references", "enumeration", "messages", "pattern", "unevaluated", "depth"],
)
def test_a_check_that_would_take_too_long_is_given_up(schema: Any, value: Any) -> None:
    with pytest.raises((BudgetExceeded, TooMuchWork)):
        found(schema, value)


def test_items_are_compared_by_hash_whatever_their_types() -> None:
    mixed = [[n] if n % 2 else {"n": n} for n in range(10_000)]
    same_hash = [n * (2**61 - 1) for n in range(20_000)]

    assert found({"uniqueItems": True}, mixed) == []
    assert found({"uniqueItems": True}, [*mixed, {"n": 2}]) == ["uniqueItems"]
    assert found({"uniqueItems": True}, same_hash) == []
    assert found({"uniqueItems": True}, [1, True, "1", [1], 0, False]) == []
    assert found({"uniqueItems": True}, [1, 1.0]) == ["uniqueItems"]


def test_a_property_that_the_schema_forbids_violates_the_rule_false() -> None:
    assert found({"properties": {"old": False}}, {"old": 1}) == ["false"]


def test_a_reference_out_of_the_schema_is_never_fetched() -> None:
    with pytest.raises(Unresolvable):
        found({"$ref": "http://127.0.0.1:9/schema"}, 1)


def test_a_message_holds_no_large_value() -> None:
    checker = validator({"type": "string"})

    large = mistakes(checker, [[1] * 50_000], EvaluationBudget(REQUEST), 1)[0]

    assert len(large.message) <= 2_000


def test_a_schema_that_is_none_is_told_by_place() -> None:
    first = schema_mistakes({"properties": {"a": {"type": "text"}}}, EvaluationBudget(REQUEST), 1)[
        0
    ]

    assert first.path == ("properties", "a", "type")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("(?=a)b", "lookahead is not supported"),
        ("(?<!a)b", "lookbehind is not supported"),
        (r"(a)\1", "backreference"),
        ("a++", "possessive"),
        ("(a{1000}){1000}", "repeat"),
        ("a{2000}", "at most 1,000 times"),
        ("(", "missing )"),
        ("x" * 1_001, "at most 1,000 are allowed"),
        ("\ud800", "lone surrogate"),
    ],
)
def test_a_pattern_that_cannot_be_matched_says_what_to_write(text: str, hint: str) -> None:
    with pytest.raises(BadPattern, match=None) as caught:
        pattern(text)

    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "fits", "fits_not"),
    [
        (r"^\u00e9+$", "éé", "e"),
        (r"\\u00e9", r"\u00e9", "é"),
        (r"^\p{L}+$", "Zürich", "Z1"),
        ("^.{3}$", "äöü", "äö"),
        ("a$", "ba", "a\n"),
    ],
)
def test_patterns_mean_what_json_schema_says(text: str, fits: str, fits_not: str) -> None:
    assert pattern(text).found_in(fits)
    assert not pattern(text).found_in(fits_not)


def turns_of_another_thread(work: Callable[[], object], wanted: int) -> int:
    """Return how often another thread ran while this one worked, at most 20,000.

    Neither thread is forced to release the interpreter, so the other one runs only when the work
    releases it.
    """
    turns = 0
    done = threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.is_set():
            turns += 1
            time.sleep(0)

    other = threading.Thread(target=count)
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1_000)
    try:
        other.start()
        before = turns
        for _ in range(20_000):
            if turns - before >= wanted:
                break
            work()
        return turns - before
    finally:
        sys.setswitchinterval(usual)
        done.set()
        other.join()


def test_other_threads_run_while_a_long_text_is_matched() -> None:
    """Other threads run while a long text is matched: RE2 releases the interpreter.

    Python's own engine, which is also measured, does not.
    """
    compiled = pattern(".*a.{40}b")
    text = "ab" * 25_000
    own = re.compile("b{3}")

    assert turns_of_another_thread(lambda: compiled.found_in(text), wanted=20) >= 20
    assert turns_of_another_thread(lambda: own.search(text[:100]), wanted=1) == 0
