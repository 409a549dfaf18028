"""Random expressions: every operator, filter, method and test, with hostile sizes."""

from collections.abc import Sequence

from hypothesis import strategies as st

from executions.definition.templating.methods import _METHODS
from executions.definition.templating.sandbox import _EACH, ENVIRONMENT

FILTERS = sorted(name for name in ENVIRONMENT.filters if name.isidentifier())
TESTS = sorted(name for name in ENVIRONMENT.tests if name.isidentifier())
METHODS = sorted({name for methods in _METHODS.values() for name in methods})
KEYWORDS = (
    "attribute", "base", "binary", "blank", "boolean", "by", "case_sensitive", "chars", "count",
    "default", "default_value", "end", "fill_with", "fillchar", "first", "indent", "items",
    "keepends", "killwords", "leeway", "length", "linecount", "maxsplit", "method", "new", "num",
    "old", "precision", "reverse", "sep", "separator", "seq", "slices", "start", "stop", "tabsize",
    "value", "width",
)  # fmt: skip
BINARY = ("+", "-", "*", "/", "//", "%", "**", "~", "and", "or")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in")

NUMBERS = st.sampled_from([
    "0", "1", "-1", "2", "3", "7", "100", "999", "1000", "65536", "99999", "100000", "1000000",
    "1048576", "2147483647", "1500000000", "10**15", "2**8000", "1.5", "1e308", "0.1", "true",
])  # fmt: skip
TEXTS = st.sampled_from([
    "''", "'a'", "'ab'", "'x y'", "' '", "','", "'\\t'", "'\\n'", "'\\r'", "'\\u2028'", "'\\x0b'",
    "'\\u0390'", "'\\u0130'", "'\\u00df'", "'\\U0001F600'", "'\\x00'", "'\\ud800'", "'\"'", "'<'",
    "'<a>'", "'<!--'", "'-->'", "'&'", "'&amp;'", "'&#'", "'%'", "'0'", "'9'", "'f'", "'0x'",
    "'id'", "'a.b'", "'0.0'", "'id,name'", "'name'", "'%s'", "'%(id)s'", "'%*d'", "'%.*f'",
    "'%99999s'", "'%(a)1500000000s'", "'%.999999f'", "'%1000000d'", "'%r'", "'%a'", "'%c'",
    "'%x'", "'%5%'",
])  # fmt: skip
NAMES = st.sampled_from([
    "input", "input.text", "input.unicode", "input.rows", "input.nested", "input.numbers",
    "input.deep", "input.none", "input.missing", "input.big", "input.keys", "nothing", "range",
])  # fmt: skip
CALLED = st.sampled_from([*FILTERS, *TESTS]).map(repr)


SIZES = st.sampled_from(["0", "1", "2", "7", "100", "1000", "20000", "99999"])
COUNTS = st.sampled_from(["1000", "30000", "90000", "500000", "1000000"])
WORDS = TEXTS.filter(lambda text: len(text) > 2)


def _text(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for texts, most of them long."""
    return st.one_of(
        TEXTS,
        st.sampled_from(["input.text", "input.unicode"]),
        st.builds("({} * {})".format, TEXTS, COUNTS),
        st.builds("({} * {} ~ {})".format, TEXTS, COUNTS, TEXTS),
        st.builds("({}|string)".format, inner),
        st.builds("({}|join({}))".format, inner, TEXTS),
    )


def _list(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for lists, most of them long or with repeated large values."""
    nested = st.builds(
        lambda item, times, tuples: _nested(item, times, tuples=tuples),
        inner,
        st.lists(st.sampled_from(["2", "10", "100", "1000"]), min_size=1, max_size=5),
        st.booleans(),
    )
    return st.one_of(
        st.sampled_from(["input.rows", "input.numbers", "input.nested", "input.keys.keys()"]),
        st.builds("range({})".format, SIZES),
        st.builds("([{}] * {})".format, inner, SIZES),
        st.builds("(range({})|map('string')|list)".format, SIZES),
        st.builds("(range({})|map('center', {})|list)".format, SIZES, SIZES),
        st.builds("({}|list)".format, _text(inner)),
        st.builds("({}.split({}))".format, _text(inner), WORDS),
        nested,
    )


def _fitting(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for operations on values of the right type, with arguments of the right
    types.
    """
    text, items, two = _text(inner), _list(inner), st.sampled_from(["0", "1", "2"])
    plain = ("list", "sort", "unique", "max", "min", "reverse", "sum", "first", "last", "string")
    of_text = ("upper", "lower", "title", "capitalize", "e", "urlencode", "striptags", "wordcount")
    of_text += ("trim", "tojson", "indent", "truncate", "center", "list", "reverse", "int", "float")
    widths = ("center", "ljust", "rjust", "zfill", "expandtabs")
    finds = ("find", "rfind", "index", "rindex", "count", "startswith", "endswith", "partition")
    finds += ("rpartition", "split", "rsplit", "strip", "lstrip", "rstrip", "removeprefix", "join")
    return st.one_of(
        st.builds("({}|{})".format, text, st.sampled_from(of_text)),
        st.builds("({}.{}({}))".format, text, st.sampled_from(finds), text),
        st.builds("({}.{}({}))".format, text, st.sampled_from(widths), NUMBERS),
        st.builds("({}|indent(width={}, blank=true))".format, text, st.one_of(NUMBERS, text)),
        st.builds("({}.replace({}, {}))".format, text, text, text),
        st.builds("({} % ({},))".format, text, inner),
        st.builds("({}|format({}, {}))".format, text, inner, NUMBERS),
        st.builds("({}|{}|list)".format, items, st.sampled_from(plain)),
        st.builds("({}|join({}))".format, items, text),
        st.builds("({}|batch({}, {})|list)".format, items, SIZES, inner),
        st.builds("({}|slice({})|list)".format, items, SIZES),
        st.builds("({}|groupby({})|list)".format, items, two),
        st.builds("({}|map('{}')|list)".format, items, st.sampled_from((*plain, *of_text))),
        st.builds("({}|map('map', '{}')|map('list')|list)".format, items, st.sampled_from(plain)),
        st.builds("({}|select('{}', {})|list)".format, items, st.sampled_from(TESTS), inner),
        st.builds("({}|map('{}', {})|list)".format, items, st.sampled_from(FILTERS), inner),
        st.builds("({} {} {})".format, items, st.sampled_from(COMPARISONS), items),
        st.builds("({} {} {})".format, inner, st.sampled_from(["in", "not in"]), items),
        st.builds("({}.{}({}))".format, items, st.sampled_from(["index", "count"]), inner),
        st.builds("({} + {})".format, items, items),
        st.builds("({} ~ {} ~ {})".format, inner, text, inner),
        st.builds("({})[{}:]".format, items, two),
        st.builds("({}|length + {}|length)".format, items, text),
        st.builds("(input.rows|sort(attribute='{}')|list)".format, st.sampled_from(["id", "a.b"])),
        st.builds("(input.rows|selectattr('id', 'in', {})|list)".format, items),
        st.builds("(input.keys|dictsort(by='value') == {})".format, items),
    )


def _atoms() -> st.SearchStrategy[str]:
    """Return a strategy for values that are short to write, many of which are large."""
    short = st.one_of(NUMBERS, TEXTS, NAMES)
    return st.one_of(short, _text(short), _list(short))


def _nested(item: str, times: Sequence[str], *, tuples: bool) -> str:
    for count in times:
        item = f"(({item},) * {count})" if tuples else f"([{item}] * {count})"
    return item


def _call(args: Sequence[str], kwargs: dict[str, str]) -> str:
    return ", ".join([*args, *(f"{name}={value}" for name, value in kwargs.items())])


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for expressions with one more operator, filter, method or test."""
    simple = st.one_of(inner, NUMBERS, TEXTS, CALLED)
    call = st.builds(
        _call,
        st.lists(simple, max_size=3),
        st.dictionaries(st.sampled_from(KEYWORDS), simple, max_size=2),
    )
    each_call = st.builds(
        "{}, {}".format, CALLED, st.builds(_call, st.lists(simple, max_size=3), st.just({}))
    )
    key = st.one_of(st.just("id"), st.just("0"), st.just("id.a"))
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(BINARY), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(COMPARISONS), inner),
        st.builds(
            "({} {} {} {} {})".format,
            inner, st.sampled_from(COMPARISONS), inner, st.sampled_from(COMPARISONS), inner,
        ),
        st.builds("({}|{})".format, inner, st.sampled_from(FILTERS)),
        st.builds("({}|{}({}))".format, inner, st.sampled_from(FILTERS), call),
        st.builds("({}|{}({}))".format, inner, st.sampled_from(_EACH), each_call),
        st.builds("({}|map(attribute='{}'))".format, inner, key),
        st.builds("({}|{}('{}', {}))".format, inner, st.sampled_from(_EACH), key, each_call),
        st.builds("({}.{}({}))".format, inner, st.sampled_from(METHODS), call),
        st.builds("({} is {})".format, inner, st.sampled_from(TESTS)),
        st.builds("({} is {}({}))".format, inner, st.sampled_from(TESTS), call),
        st.builds("({})[{}]".format, inner, simple),
        st.builds("({})[{}:{}:{}]".format, inner, NUMBERS, NUMBERS, NUMBERS),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("{{{}: {}}}".format, simple, inner),
        st.builds("[{}, {}, {}]".format, inner, inner, inner),
        st.builds("({}, {})".format, inner, inner),
        st.builds("({} % ({}, {}))".format, inner, inner, inner),
        st.builds("({} % {{'a': {}, 'id': {}}})".format, inner, inner, inner),
        st.builds("range({}, {}, {})".format, NUMBERS, NUMBERS, NUMBERS),
        st.builds("(not {})".format, inner),
        st.builds("(-{})".format, inner),
    )  # fmt: skip


def expressions() -> st.SearchStrategy[str]:
    """Return a strategy for expressions of up to about twenty parts."""
    larger = st.recursive(
        _atoms(), lambda inner: st.one_of(_fitting(inner), _larger(inner)), max_leaves=8
    )
    return larger.filter(lambda text: len(text) < 10_000)
