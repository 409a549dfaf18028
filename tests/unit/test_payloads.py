"""JSON on its way into a row is canonical and bounded, and has nothing that PostgreSQL rejects."""

import json
import tracemalloc
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executions import payloads
from executions.errors import PayloadError
from executions.payloads import MAX_BYTES, STORED, StoredReference, digest, dump, parts

# What jsonb can hold: no NUL, no lone surrogate, no NaN or infinity.
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))
keys = texts.filter(lambda key: key != STORED)  # which is reserved
scalars = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
)


@given(values)
def test_what_is_dumped_reads_back_the_same(value):
    assert json.loads(dump(value)) == value


@given(st.dictionaries(texts, scalars))
def test_the_order_of_keys_changes_nothing(value):
    backwards = dict(reversed(value.items()))
    assert digest(dump(value)) == digest(dump(backwards))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("a\x00b", "NUL"),
        ({"k\x00": 1}, "NUL"),
        ({"a": ["deep", {"b": "\x00"}]}, "NUL"),
        ("\ud800", "U\\+D800"),
        (float("nan"), "cannot be stored"),
        (float("inf"), "cannot be stored"),
        (datetime(2026, 1, 1, tzinfo=UTC), "cannot be stored"),
        ({1, 2}, "cannot be stored"),
        (b"bytes", "cannot be stored"),
    ],
)
def test_what_cannot_be_stored_is_refused_by_name(value, problem):
    with pytest.raises(PayloadError, match=problem) as caught:
        dump({"field": value}, "output of step a.main")
    assert "output of step a.main" in str(caught.value)


def test_the_text_backslash_u0000_is_no_nul():
    assert json.loads(dump("a\\u0000b")) == "a\\u0000b"


def test_size_counts_bytes_and_not_characters():
    assert dump("ä" * 10, limit=22)
    with pytest.raises(PayloadError, match="22 bytes"):
        dump("ä" * 10, limit=21)


def test_what_is_too_large_is_refused_with_its_size():
    with pytest.raises(PayloadError, match="5,242,883 bytes"):
        dump("x" * (MAX_BYTES + 1))


@pytest.mark.parametrize(
    "value",
    [
        ["a" * 1_000_000] * 100_000,
        [{"a" * 1_000_000: 1}] * 100_000,
        {"rows": [[["a"] * 1_000] * 1_000] * 1_000},
        ([([10**4_000],) * 1_000],) * 1_000,
        [[]] * 10_000_000,
    ],
)
def test_a_value_that_repeats_what_is_large_is_refused_before_it_is_encoded(value):
    tracemalloc.start()
    try:
        with pytest.raises(PayloadError, match=r"at least [\d,]+ bytes"):
            dump(value, limit=100_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 1_000_000


@given(values)
def test_what_fits_its_limit_exactly_is_encoded(value):
    size = len(dump(value).encode())

    assert dump(value, limit=size)
    with pytest.raises(PayloadError):
        dump(value, limit=size - 1)


def test_what_nests_too_deep_is_refused():
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(PayloadError, match="nested too deeply"):
        dump(value)


large = st.recursive(
    scalars | texts.map(lambda text: text * 5),
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(texts, inner, max_size=6),
    max_leaves=40,
)


@given(large)
def test_the_parts_of_a_value_are_the_text_that_is_dumped(value):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(payloads, "PIECE", 16)
        patch.setattr(payloads, "PART", 32)
        found = list(parts(value))

    assert b"".join(found).decode() == dump(value)
    assert all(len(part) >= 32 for part in found[:-1])


LONG = "x" * 1_000_000


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (LONG + "\x00" + LONG, "NUL"),
        ({"k\x00": LONG}, "NUL"),
        ([LONG, {"a": LONG + "\ud800"}], "U\\+D800"),
        ([LONG, float("nan")], "cannot be stored"),
        ([LONG, {1, 2}], "cannot be stored"),
        ({1: LONG, "a": LONG}, "cannot be stored"),
        ({"$sealed": LONG}, "reserved for sealed"),
        ([LONG, {"$sealed": 1}], "reserved for sealed"),
        ([LONG, {"$sealed": LONG}], "reserved for sealed"),
        ({"a": LONG, "b": [LONG, {"$stored": "1"}]}, "reserved for references"),
        ({"a": LONG, "b": [{"$stored": LONG}]}, "reserved for references"),
        (LONG * 6, "more than 5,242,880 bytes"),
    ],
)
def test_a_large_value_that_cannot_be_stored_is_refused_by_name(value, problem):
    with pytest.raises(PayloadError, match=problem) as caught:
        list(parts(value, "output of step a.main"))
    assert "output of step a.main" in str(caught.value)


def test_a_reference_that_the_engine_made_may_be_in_a_large_value():
    value = [LONG, StoredReference({"$stored": "1"})]

    assert b"".join(parts(value)).decode() == dump(value)


def test_a_value_that_contains_itself_is_refused():
    value = [LONG]
    value.append(value)

    with pytest.raises(PayloadError, match="nested too deeply"):
        list(parts(value))


def test_the_parts_of_a_large_value_need_little_memory():
    value = {"text": "ä" * 30_000_000, "rows": [{"id": number} for number in range(100_000)]}

    tracemalloc.start()
    try:
        size = sum(map(len, parts(value, limit=2**27)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert size > 60_000_000
    assert peak < 8 * 2**20
