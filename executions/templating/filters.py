"""The filters of expressions, each with what keeps it bounded.

Deterministic filters only. A text has at most MAX_TEXT characters, so one pass over one text takes
a few milliseconds at most; how many passes there are is charged.
"""

import functools
import html
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sized
from inspect import signature
from typing import Any

from jinja2.filters import FILTERS as DEFAULT_FILTERS
from jinja2.filters import ignore_case, make_attrgetter, make_multi_attrgetter
from jinja2.utils import pass_environment

from executions.templating import limits
from executions.templating.meter import charge
from executions.templating.sizes import CHARACTERS, ITEMS, built, charge_items, charge_whole
from executions.templating.values import as_json, as_text

Filter = Callable[..., Any]
# Past this, numbers can be chosen so that their hashes collide.
HASHED = 2**61 - 1


def filters() -> dict[str, Filter]:
    """Every filter, by name."""
    own = DEFAULT_FILTERS
    return {
        # One pass over the text; results at most three times as long.
        **{name: _of_text(own[name]) for name in ("capitalize", "lower", "trim", "upper")},
        **{name: _of_text(own[name]) for name in ("center", "truncate")},
        # Many small texts on the way: sixteen times as dear.
        **{name: _of_text(own[name], 16) for name in ("title", "wordcount")},
        "striptags": limits.without_tags,
        "urlencode": _url_encoded,
        "e": _escaped,
        "escape": _escaped,
        # Nothing is looked into, and what comes one by one is charged as it comes.
        **{name: _of_items(own[name]) for name in ("count", "first", "last", "length", "list")},
        **{name: _of_items(own[name]) for name in ("items", "map", "reverse")},
        **{name: _of_items(own[name]) for name in ("reject", "rejectattr", "select")},
        "selectattr": _of_items(own["selectattr"]),
        **{name: _in_groups(own[name]) for name in ("batch", "slice")},
        # Keys are compared, or hashed.
        "sort": _sorted,
        **{name: _by_key(own[name]) for name in ("groupby", "max", "min", "unique")},
        "dictsort": _sorted_pairs,
        # Numbers, of bounded size.
        **{name: own[name] for name in ("abs", "filesizeformat")},
        "float": _number,
        "int": limits.whole_number,
        "round": limits.rounded,
        "sum": limits.total,
        # The value itself, or another one.
        **{name: own[name] for name in ("d", "default")},
        # Guarded by their size.
        "format": limits.format_text,
        "indent": limits.indented,
        "join": _joined,
        "replace": limits.replace,
        "string": _text,
        "tojson": _to_json,
    }


def _of_text(function: Filter, weight: int = 1) -> Filter:
    """A filter whose first argument is a text, and whose result is about as long, or a number."""
    at = _place_of_value(function)

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        text = limits.plain_text(args[at])
        charge(1 + weight * len(text) // CHARACTERS)
        for argument in (*args[at + 1 :], *kwargs.values()):
            if isinstance(argument, int):
                limits.bounded_text(argument)
            elif isinstance(argument, str):
                limits.bounded_text(len(text) + len(argument))
        result = function(*args[:at], text, *args[at + 1 :], **kwargs)
        if isinstance(result, str):
            limits.bounded_text(len(result))
        return built(result)

    return guarded


def _of_items(function: Filter) -> Filter:
    """A filter that looks at items one by one, and not into them."""
    at = _place_of_value(function)

    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        charge_items(args[at])
        result = function(*args, **kwargs)
        if isinstance(result, Iterator):
            return _counted(result)
        return built(result)

    return guarded


def _in_groups(function: Filter) -> Filter:
    """`batch` and `slice`: lists of so many items."""

    @functools.wraps(function)
    def guarded(value: Any, *args: Any, **kwargs: Any) -> Any:
        for number in (*args, *kwargs.values()):
            if isinstance(number, int):
                limits.bounded_items(number)
        charge_items(value)
        return (built(group) for group in _counted(function(value, *args, **kwargs)))

    return guarded


def _counted(items: Iterator[Any]) -> Iterator[Any]:
    for item in items:
        charge(1)
        yield item


@pass_environment
def _sorted(
    environment: Any,
    value: Any,
    reverse: bool = False,
    case_sensitive: bool = False,
    attribute: Any = None,
) -> list[Any]:
    """`sort`: by one or several attributes, `"a,b"`; the keys are made once, to be charged for."""
    items = limits.bounded(value)
    of = make_multi_attrgetter(environment, attribute)
    times = _comparisons(items)
    keys = []
    for item in items:
        parts = of(item)
        for part in parts:
            _charge_key(part, times, len(items))
        keys.append(parts if case_sensitive else [ignore_case(part) for part in parts])
    order = sorted(range(len(items)), key=keys.__getitem__, reverse=reverse)
    return built([items[place] for place in order])


def _comparisons(items: Sized) -> int:
    """How often sorting compares each item."""
    return 1 + math.ceil(math.log2(len(items) + 1))


def _by_key(function: Filter) -> Filter:
    """A filter that compares or hashes items, or an attribute of each."""
    parameters = signature(function)

    @functools.wraps(function)
    def guarded(environment: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        items = limits.bounded(value)
        given = parameters.bind(environment, items, *args, **kwargs).arguments
        of = make_attrgetter(environment, given.get("attribute"))
        times = _comparisons(items)
        for item in items:
            _charge_key(of(item), times, len(items))
        result = function(environment, items, *args, **kwargs)
        return _counted(result) if isinstance(result, Iterator) else built(result)

    return guarded


def _charge_key(key: Any, times: int, among: int) -> None:
    charge_whole(key, times)
    if isinstance(key, str):
        built(key)  # in small letters, unless the case counts
    elif isinstance(key, int) and abs(key) >= HASHED:
        charge(among // ITEMS)


def _sorted_pairs(value: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
    """`dictsort`: pairs, by key or by value."""
    charge_whole(value, _comparisons(value))
    return built(DEFAULT_FILTERS["dictsort"](value, *args, **kwargs))


def _joined(items: Any, separator: str = "") -> str:
    return limits.join(items, separator)


def _escaped(value: Any) -> str:
    text = as_text(value)
    charge(1 + len(text) // 32)
    limits.bounded_text(len(text))
    return built(html.escape(text))


def _url_encoded(value: Any) -> Any:
    if isinstance(value, Iterator):
        value = limits.bounded(value)
    charge_whole(value, 32)
    if not isinstance(value, str):
        limits.bounded_text(len(limits.plain_text(value)))
    result = DEFAULT_FILTERS["urlencode"](value)
    return built(result)


def _number(value: Any, default: float = 0.0) -> float:
    charge_items(value)
    return float(DEFAULT_FILTERS["float"](value, default))


def _text(value: Any) -> str:
    return built(as_text(value))


def _to_json(value: Any) -> str:
    return built(json.dumps(as_json(value), ensure_ascii=False))


def _place_of_value(function: Filter) -> int:
    """Where the filtered value stands: behind the environment or context where one is passed."""
    return int(hasattr(function, "jinja_pass_arg"))
