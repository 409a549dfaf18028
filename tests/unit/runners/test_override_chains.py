"""Overrides of a step that already had overrides."""

from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.repair.reruns import _joined
from runners.segment.inputs import combine, merged, one_after_other, patches_of

scalars = st.none() | st.integers(0, 3)
values = st.recursive(
    scalars, lambda inner: st.dictionaries(st.sampled_from("ab"), inner), max_leaves=6
)
patches = st.dictionaries(st.sampled_from("ab"), values, min_size=1, max_size=2)


@given(values, patches, patches)
def test_one_patch_does_what_two_do_in_turn(base: Any, first: Any, second: Any) -> None:
    base = merged({}, {"a": base})

    if combine(first, second):
        joined = merged(base, one_after_other(first, second))
        assert joined == merged(merged(base, first), second)


@given(values, st.lists(patches, min_size=1, max_size=4))
def test_changes_of_several_requeues_apply_in_sequence(base: Any, changes: list[Any]) -> None:
    base = merged({}, {"a": base})

    assert reduce(merged, patches_of(reduce(_joined, changes)), base) == reduce(
        merged, changes, base
    )


def test_changes_that_combine_are_one_patch() -> None:
    assert _joined({"a": {"b": 1}}, {"a": {"c": 2}}) == {"a": {"b": 1, "c": 2}}
    assert _joined({"a": None}, {"a": {"c": 2}}) == [{"a": None}, {"a": {"c": 2}}]


@pytest.mark.parametrize("first", [{}, {"a": 1}, {"b": {"c": 2}}])
def test_a_null_still_removes(first: dict[str, Any]) -> None:
    assert merged({"a": 5, "z": 1}, one_after_other(first, {"a": None})).get("a") is None
