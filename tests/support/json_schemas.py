"""Random schemas and values, small enough for any implementation to check."""

from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "ab", "c1")
PATTERNS = ("^a", "b$", "[0-9]", "^[a-z]{1,2}$", "")
SCALARS = (None, True, False, 0, 1, -1, 2, 1.0, 1.5, "", "a", "ab", "b1")


def values() -> st.SearchStrategy[Any]:
    """Return a strategy for small JSON values."""
    return st.recursive(
        st.sampled_from(SCALARS),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
        ),
        max_leaves=12,
    )


def schemas() -> st.SearchStrategy[Any]:
    """Return a strategy for schemas of draft 2020-12 without references."""
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


def doubling(levels: int) -> dict[str, Any]:
    """Return a schema of pairs of references: its innermost part is checked 2 to the power of
    `levels` times.
    """
    pairs = {f"l{n}": {"allOf": [{"$ref": f"#/$defs/l{n + 1}"}] * 2} for n in range(levels)}
    return {"$ref": "#/$defs/l0", "$defs": pairs | {f"l{levels}": {"type": "object"}}}


_ADDRESS = {
    "type": "object",
    "required": ["street", "city", "zip", "country"],
    "additionalProperties": False,
    "properties": {
        "street": {"type": "string", "minLength": 1, "maxLength": 200},
        "city": {"type": "string", "maxLength": 100},
        "zip": {"type": "string", "pattern": "^[0-9]{4,6}$"},
        "country": {"type": "string", "enum": ["DE", "FR", "NL", "US"]},
    },
}
_LINE = {
    "type": "object",
    "required": ["sku", "count", "price"],
    "properties": {
        "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"},
        "count": {"type": "integer", "minimum": 1, "maximum": 1_000},
        "price": {"type": "number", "minimum": 0},
        "note": {"type": ["string", "null"]},
    },
}
ORDERS: dict[str, Any] = {
    "type": "object",
    "required": ["id", "customer", "lines", "total"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "at": {"type": "string", "format": "date-time"},
        "customer": {
            "type": "object",
            "required": ["email"],
            "properties": {"email": {"type": "string", "format": "email"}},
        },
        "billing": {"$ref": "#/$defs/address"},
        "shipping": {"$ref": "#/$defs/address"},
        "lines": {"type": "array", "minItems": 1, "maxItems": 100, "items": _LINE},
        "total": {"type": "number", "minimum": 0},
        "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}},
    },
    "$defs": {"address": _ADDRESS},
}


def order(number: str) -> dict[str, Any]:
    """Return an ordinary payload of 1.5 kB that matches ORDERS."""
    address = {"street": "Main Street 1", "city": "Ulm", "zip": "89073", "country": "DE"}
    return {
        "id": number,
        "at": "2026-01-31T23:59:59Z",
        "customer": {"email": "ada@shop.example"},
        "billing": address,
        "shipping": address,
        "lines": [{"sku": "ABC-12", "count": 2, "price": 1.5, "note": None}] * 20,
        "total": 60,
        "tags": ["new", "gift", "express"],
    }
