"""Random schemas and payloads that try to use as much time and memory as possible."""

from typing import Any

from hypothesis import strategies as st

PATTERNS = (
    "^(a+)+$", "(a|aa)+b", ".*a.{500}b", "(x{1,100}){1,100}", r"^([a-zA-Z0-9_.-]+)*@e\.com$",
    "(?=a)", r"(a)\1", "[", "a{1000}", r"\p{L}+", r"^\w+\s?$", "(.{0,30}a){30}",
)  # fmt: skip
PARTS = (
    "#/$defs/a", "#/$defs/b", "#", "#/properties/a", "http://127.0.0.1:9/x", "#/nowhere",
    "#moving",
)  # fmt: skip
FORMATS = (
    "date", "date-time", "duration", "email", "hostname", "idn-email", "idn-hostname", "ipv4",
    "ipv6", "iri", "iri-reference", "json-pointer", "regex", "relative-json-pointer", "time", "uri",
    "uri-reference", "uri-template", "uuid",
)  # fmt: skip
LIMITS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
NUMBERS = ("multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
TYPES = ("array", "boolean", "integer", "number", "object", "string")
COUNTS = st.sampled_from((0, 1, 2_000))

# What formats read, and repeated pieces of it.
TEXTS = (
    "2026-01-31", "2026-01-31T23:59:60Z", "P1Y2M3DT4H5M6S", "a@b.example", "a.example", "192.0.2.1",
    "2001:db8::1", "https://münchen.example/ä?ö#ü", "/a~0b/0", "0#", "1/a", "{+path,x*:99}/{?q}",
    "23:59:60+23:59", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "xn--a", "\"a b\"@[IPv6:::1]",
)  # fmt: skip
PIECES = (
    "a", "a.", "1.", ":", "/", "~0", "~", "{a}", "{", "{?a*,", "%41", "%", "xn--", "ü.", "\u0301",
    "\u200d", "P1", "1Y", "9", "T1", "-", "@", "[", "(", "\"", " ", "\\",
)  # fmt: skip
# Values of a schema: one of a mebibyte, which no definition may exceed, has fewer.
MOST_VALUES = 150_000


def hostile_schemas() -> st.SearchStrategy[Any]:
    """Return a strategy for schemas with references, patterns and products of alternatives."""
    parts = st.recursive(_leaves(), _applied, max_leaves=12)
    return st.builds(
        _with_parts, parts, parts, parts, st.sampled_from(("", "a", "b", "top"))
    ).filter(lambda schema: _values(schema, {}) <= MOST_VALUES)


def _with_parts(top: Any, a: Any, b: Any, moving: str) -> Any:
    """Return a schema with two parts; one of the three may be the target of `$dynamicRef`."""
    if not isinstance(top, dict):
        return top
    found = {"top": top, "a": a, "b": b}
    if isinstance(found.get(moving), dict):
        found[moving] = {**found[moving], "$dynamicAnchor": "moving"}
    return {**found["top"], "$defs": {"a": found["a"], "b": found["b"]}}


def _values(value: Any, known: dict[int, int]) -> int:
    """Return the number of values after expansion: shared values count each time.

    Some levels of lists with sixty times the same list would take all memory.
    """
    if not isinstance(value, dict | list):
        return 1
    found = known.get(id(value))
    if found is None:
        items = value.values() if isinstance(value, dict) else value
        found = known[id(value)] = 1 + sum(_values(item, known) for item in items)
    return found


def _leaves() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.just({"type": "string"}),
        st.sampled_from(PATTERNS).map(lambda text: {"pattern": text}),
        st.sampled_from(PARTS).map(lambda to: {"$ref": to}),
        st.sampled_from(PARTS).map(lambda to: {"$dynamicRef": to}),
        st.sampled_from(FORMATS).map(lambda name: {"format": name}),
        st.just({"uniqueItems": True}),
        st.just({"enum": [[n] for n in range(500)]}),
        st.just({"const": {"a": [1] * 50}}),
        st.just({"required": [f"k{n}" for n in range(500)]}),
        st.just({"dependentRequired": {"a": [f"k{n}" for n in range(500)], "k1": ["k2"]}}),
        st.builds(lambda k, n: {k: n}, st.sampled_from(LIMITS), st.sampled_from((0, 1, 10**9))),
        st.builds(lambda k, n: {k: n}, st.sampled_from(NUMBERS), st.sampled_from((1e-300, 3))),
        st.sampled_from(TYPES).map(lambda name: {"type": [name, "null"]}),
        st.booleans(),
    )


def _applied(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    many = st.tuples(inner, st.integers(1, 60)).map(lambda pair: [pair[0]] * pair[1])
    return st.one_of(
        st.builds(lambda k, v: {k: v}, st.sampled_from(("allOf", "anyOf", "oneOf")), many),
        st.builds(
            lambda k, v: {k: v},
            st.sampled_from(
                (
                    "items", "not", "if", "contains", "propertyNames", "additionalProperties",
                    "unevaluatedProperties", "unevaluatedItems",
                )
            ),
            inner,
        ),
        st.builds(lambda v: {"properties": {"a": v, "b": v}}, inner),
        st.builds(lambda v: {"prefixItems": v}, many),
        st.builds(lambda v, n: {"contains": v, "minContains": n, "maxContains": n}, inner, COUNTS),
        st.builds(lambda v, w: {"dependentSchemas": {"a": v, "b": w, "k1": w}}, inner, inner),
        st.builds(lambda i, t, e: {"if": i, "then": t, "else": e}, inner, inner, inner),
        st.builds(lambda p, v: {"patternProperties": {p: v}}, st.sampled_from(PATTERNS), inner),
        st.builds(lambda v, w: {"unevaluatedProperties": False, "allOf": [v, w]}, inner, inner),
    )  # fmt: skip


def hostile_values() -> st.SearchStrategy[Any]:
    """Return a strategy for payloads that are long, wide, deep, or many of one kind."""
    long = st.sampled_from(("a" * 40, "ab" * 50_000, "ü" * 5_000, "a" * 30 + "@e.com"))
    long |= st.sampled_from(TEXTS) | st.builds(
        lambda part, times, end: part * times + end,
        st.sampled_from(PIECES),
        st.sampled_from((1, 9, 100, 300, 999, 2_000, 8_000)),
        st.sampled_from(("", "x", "}", "@e.com", "Z", "\x00")),
    )
    leaf = long | st.sampled_from((1, 1.0, True, None, 10**300, -1e300))
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.tuples(inner, st.integers(1, 300)).map(lambda pair: [pair[0]] * pair[1]),
            st.dictionaries(st.sampled_from(("a", "b", "c", "d" * 50)), inner, max_size=3),
            st.integers(1, 3_000).map(lambda n: [[k] if k % 2 else k for k in range(n)]),
            st.integers(1, 3_000).map(lambda n: {f"k{k}": k for k in range(n)}),
        ),
        max_leaves=4,
    ).filter(lambda value: _written(value, {}) < 3_000_000)


def _written(value: Any, known: dict[int, int]) -> int:
    """Return the approximate number of characters after expansion, without expanding the value."""
    if not isinstance(value, dict | list):
        return len(str(value)) + 2
    found = known.get(id(value))
    if found is None:
        keys = sum(len(key) + 4 for key in value) if isinstance(value, dict) else 0
        items = value.values() if isinstance(value, dict) else value
        found = known[id(value)] = 2 + keys + sum(_written(item, known) for item in items)
    return found
