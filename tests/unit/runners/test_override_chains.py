"""Overrides of a step that already had overrides."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runners.repair.reruns import one_after_other
from runners.segment.inputs import merged

scalars = st.none() | st.integers(0, 3)
# Patches that change an object's leaves, and never turn an object into a value or back.
patches = st.dictionaries(st.sampled_from("ab"), scalars, max_size=2).map(
    lambda inner: {"deep": inner, **inner}
)


@given(patches, patches, patches)
def test_one_patch_does_what_two_do_in_turn(base: Any, first: Any, second: Any) -> None:
    base = merged({}, base)

    assert merged(base, one_after_other(first, second)) == merged(merged(base, first), second)


@pytest.mark.parametrize("first", [{}, {"a": 1}, {"b": {"c": 2}}])
def test_a_null_still_removes(first: dict[str, Any]) -> None:
    assert merged({"a": 5, "z": 1}, one_after_other(first, {"a": None})).get("a") is None
