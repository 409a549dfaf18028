"""Tests of the pure functions for checkpoints, points and differences, without a database."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.timetravel.point_in_time import holders, retimed, written
from valkyr_plugins.timetravel.verification import MAX_DIFFERENCES, Verification, shown


def test_the_containers_around_places_are_named_each_once() -> None:
    assert holders(["refine[2].", "refine[3].", "refine[2].inner[0].", "batch[7]."]) == [
        "batch.main",
        "refine.main",
        "refine[2].inner.main",
    ]
    assert holders([]) == []


NAMES = st.sampled_from(["a", "b", "c"])
WRITES = st.lists(st.dictionaries(NAMES, st.integers()))


@given(WRITES, WRITES)
def test_what_was_written_in_two_parts_is_what_was_written_at_once(
    first: list[dict[str, int]], second: list[dict[str, int]]
) -> None:
    base = {"a": 0, "b": 0}
    middle = written(base, first, base)
    assert written(middle, second, base) == written(base, first + second, base)


def test_only_declared_variables_and_objects_count() -> None:
    base = {"a": 0}
    assert written(base, [{"a": 1, "b": 2}, None, [3], "x"], base) == {"a": 1}
    assert base == {"a": 0}, "the base is left as it was"


def test_objects_are_compared_key_by_key() -> None:
    found = Verification()
    found.compare("s.main", "inputs", {"a": 1, "b": {"c": [1], "d": 2}}, {"b": {"c": [2], "d": 2}})
    assert [(d.field, d.recorded, d.replayed) for d in found.differences] == [
        ("inputs.a", 1, None),
        ("inputs.b.c", [1], [2]),
    ]


def test_equal_values_of_another_type_differ() -> None:
    found = Verification()
    found.compare("", "output", 1, True)
    found.compare("", "output", {"a": 1}, {"a": 1})
    assert [(d.recorded, d.replayed) for d in found.differences] == [(1, True)]


def test_differences_are_bounded() -> None:
    found = Verification()
    for number in range(MAX_DIFFERENCES + 5):
        found.differs(f"s{number}.main", "inputs", 1, 2)
    assert len(found.differences) == MAX_DIFFERENCES
    assert not found.complete
    assert not found.same


def test_a_large_value_is_told_by_its_size_and_hash() -> None:
    assert shown({"a": 1}) == {"a": 1}
    assert shown("x" * 5_000).startswith("(5,002 characters of JSON, SHA-256 ")
    assert shown(float("nan")) == "(cannot be shown: float)"


NOW = datetime(2026, 11, 21, tzinfo=UTC)
SPANS = st.lists(
    st.tuples(st.integers(0, 50), st.none() | st.integers(0, 50)).map(
        lambda pair: (
            NOW + timedelta(seconds=pair[0]),
            None if pair[1] is None else NOW + timedelta(seconds=pair[0] + pair[1]),
        )
    ),
    max_size=20,
)


@given(SPANS)
def test_new_times_keep_the_order_and_differ(spans: list[tuple[datetime, datetime | None]]) -> None:
    fresh = retimed(spans, NOW)
    old = [at for span in spans for at in span if at is not None]
    new = [at for span in fresh for at in span if at is not None]
    assert len(set(new)) == len(old)
    assert max(new, default=NOW) == NOW
    assert all(
        one < other
        for one, before in zip(new, old, strict=True)
        for other, after in zip(new, old, strict=True)
        if before < after
    )
    assert all(ended is None or begun < ended for begun, ended in fresh)
