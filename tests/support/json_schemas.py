"""Schemas and values at random, small enough for any implementation to check."""

from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "ab", "c1")
PATTERNS = ("^a", "b$", "[0-9]", "^[a-z]{1,2}$", "")
SCALARS = (None, True, False, 0, 1, -1, 2, 1.0, 1.5, "", "a", "ab", "b1")


def values() -> st.SearchStrategy[Any]:
    """JSON values of a few parts."""
    return st.recursive(
        st.sampled_from(SCALARS),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
        ),
        max_leaves=12,
    )


def schemas() -> st.SearchStrategy[Any]:
    """Schemas of draft 2020-12 that hold no references."""
    return st.recursive(st.booleans() | _leaves(), _around, max_leaves=8)


def _leaves() -> st.SearchStrategy[Any]:
    number = st.integers(0, 3)
    kinds = ("null", "boolean", "object", "array", "number", "integer", "string")
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(kinds)
            | st.lists(st.sampled_from(kinds), min_size=1, unique=True),
            "enum": st.lists(values(), min_size=1, max_size=4),
            "const": values(),
            "pattern": st.sampled_from(PATTERNS),
            "minLength": number,
            "maxLength": number,
            "minimum": number,
            "exclusiveMaximum": number,
            "multipleOf": st.sampled_from((1, 2, 0.5)),
            "uniqueItems": st.booleans(),
            "minItems": number,
            "maxProperties": number,
            "required": st.lists(st.sampled_from(NAMES), unique=True),
        },
    )


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
            "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "propertyNames": inner,
            "dependentSchemas": st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
            "items": inner,
            "prefixItems": some,
            "contains": inner,
            "unevaluatedItems": inner,
            "allOf": some,
            "anyOf": some,
            "oneOf": some,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
        },
    )
