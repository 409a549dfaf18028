"""Two JSON values are compared by path."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlq.comparing.difference import MAX_CHANGES, MAX_SHOWN, ROOT, DifferenceKind, compare

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=15,
)


def _told(before: Any, after: Any) -> list[tuple[str, str, str | None, str | None]]:
    return [(c.path, c.kind, c.before, c.after) for c in compare(before, after).changes]


def test_each_value_that_differs_is_named_by_its_path() -> None:
    before = {"order": {"id": 1, "lines": [{"sku": "a"}]}, "gone": [1], "x-y": 1, "same": None}
    after = {"order": {"id": 2, "lines": [{"sku": "a"}, {"sku": "b"}]}, "x-y": "1", "same": None}

    assert _told(before, after) == [
        ("order.id", "changed", "1", "2"),
        ("order.lines[1]", "added", None, '{"sku": "b"}'),
        ("gone", "removed", "[1]", None),
        ('["x-y"]', "changed", "1", '"1"'),
    ]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [(1, 1.0, True), (1, True, False), (0, False, False), (None, 0, False), ([], {}, False)],
)
def test_values_are_compared_as_json_has_them(before: Any, after: Any, same: bool) -> None:
    assert compare(before, after).same is same
    if not same:
        assert compare(before, after).changes[0].path == ROOT


def test_secrets_by_their_usual_names_are_dots_though_their_change_is_told() -> None:
    before = {"password": "one", "headers": {"Authorization": "x"}}
    after = {"password": "two", "headers": {"Authorization": {"deep": "y"}}}

    told = _told(before, after)

    assert [path for path, *_ in told] == ["password", "headers.Authorization"]
    assert {"••••••"} == {side for _, _, *sides in told for side in sides}
    assert _told({}, {"db": {"password": "p"}})[0][3] == '{"password": "••••••"}'


def test_a_comparison_is_bounded_and_says_so() -> None:
    many = compare({}, {f"k{n}": n for n in range(MAX_CHANGES + 1)})
    assert (len(many.changes), many.whole) == (MAX_CHANGES, False)
    large = compare(list(range(60_000)), list(range(60_000)))
    assert (large.same, large.whole) == (False, False)
    deep: Any = 1
    for _ in range(3_000):
        deep = [deep]
    assert not compare(deep, [deep]).same
    [long] = compare("", "x" * 10_000).changes
    assert long.after is not None
    assert len(long.after) == MAX_SHOWN


@given(value=JSON)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert compare(value, json.loads(json.dumps(value))).same


@given(before=JSON, after=JSON)
def test_what_one_way_was_added_is_removed_the_other_way(before: Any, after: Any) -> None:
    there, back = compare(before, after), compare(after, before)
    turned = {
        DifferenceKind.ADDED: DifferenceKind.REMOVED,
        DifferenceKind.REMOVED: DifferenceKind.ADDED,
        DifferenceKind.CHANGED: DifferenceKind.CHANGED,
    }
    assert {(c.path, turned[c.kind], c.after, c.before) for c in there.changes} == {
        (c.path, c.kind, c.before, c.after) for c in back.changes
    }
