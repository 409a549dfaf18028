"""Results of tools are cut until they fit, and say what was cut."""

import json

from hypothesis import given
from hypothesis import strategies as st

from valkyr_plugins.mcp.bounded import as_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=2_000),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=20), inner),
)


@given(VALUES)
def test_every_result_fits(value: object) -> None:
    assert len(as_text(value, 1_000)) <= 1_000


def test_a_small_result_is_whole() -> None:
    value = {"rows": [{"a": "ü" * 50}], "nextCursor": None}

    assert json.loads(as_text(value)) == value


def test_long_texts_are_cut_before_rows() -> None:
    value = {"rows": [{"n": n, "text": "x" * 5_000} for n in range(50)]}

    found = json.loads(as_text(value))

    assert [row["n"] for row in found["rows"]] == list(range(50))
    assert found["rows"][0]["text"].endswith("more characters)")


def test_what_never_fits_is_still_json_with_advice() -> None:
    value = {str(n): {str(m): "x" * 100 for m in range(100)} for n in range(100)}

    assert "Ask for fewer rows" in json.loads(as_text(value, 2_000))["note"]
