"""The methods of strings, lists and objects that an expression may call, with their limits.

Arguments must match the signatures in this module. Other methods cannot be called, especially not
`format`, whose fields reach into objects.
"""

import sys
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from executions.definition.templating import comparing, texts
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.values import (
    MAX_ITEMS,
    OBJECT,
    bounded_text,
    built_text,
    built_texts,
    scan,
)

Method = Callable[..., Any]


class BoundMethod:
    """A method of a value, ready to be called with a budget."""

    __slots__ = ("function", "name", "owner")

    def __init__(self, name: str, function: Method, owner: Any) -> None:
        self.name = name
        self.function = function
        self.owner = owner

    def __call__(self, budget: RenderBudget, /, *args: Any, **kwargs: Any) -> Any:
        """Return the result of the method, which charges the budget."""
        try:
            return self.function(budget, self.owner, *args, **kwargs)
        except TypeError:
            check_call(self.name, self.function, (budget, self.owner, *args), kwargs)
            raise


def method_of(value: Any, name: str) -> BoundMethod | None:
    """Return the value's method of this name, bound to it, or None if templates may not call it."""
    function = _METHODS.get(type(value), {}).get(name)
    return None if function is None else BoundMethod(name, function, value)


def check_call(
    name: str, function: Method, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Raise TypeError, which names the method as templates do, if the arguments do not match."""
    try:
        signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f"{name}(): {error}") from None


def _reading(name: str) -> Method:
    """Return the string method `name`, which reads the string once and returns a boolean."""
    method = getattr(str, name)

    def read(budget: RenderBudget, text: str, /) -> Any:
        budget.spend(scan(text))
        return method(text)

    return read


def _searching(name: str) -> Method:
    """Return the method `name`, which searches from the left in linear time (in CPython)."""
    method = getattr(str, name)

    def search(
        budget: RenderBudget,
        text: str,
        sub: str,
        start: int | None = None,
        end: int | None = None,
        /,
    ) -> Any:
        budget.spend(scan(text) + scan(_text(sub)))
        return method(text, sub, start, end)

    return search


def _searching_back(name: str) -> Method:
    """Return the method `name`, which searches from the right.

    In CPython, the time grows with the product of both lengths.
    """
    method = getattr(str, name)

    def search(
        budget: RenderBudget,
        text: str,
        sub: str,
        start: int | None = None,
        end: int | None = None,
        /,
    ) -> Any:
        budget.spend(_product(text, _text(sub)))
        return method(text, sub, start, end)

    return search


def _affix(name: str) -> Method:
    """Return `startswith` or `endswith`, which take one string or a tuple of strings."""
    method = getattr(str, name)

    def test(
        budget: RenderBudget,
        text: str,
        affix: Any,
        start: int | None = None,
        end: int | None = None,
        /,
    ) -> Any:
        affixes = affix if isinstance(affix, tuple) else (affix,)
        budget.spend(len(affixes) + sum(scan(_text(one)) for one in affixes))
        return method(text, affix, start, end)

    return test


def _without_affix(name: str) -> Method:
    method = getattr(str, name)

    def remove(budget: RenderBudget, text: str, affix: str, /) -> str:
        budget.spend(scan(text))
        return built_text(budget, method(text, affix))

    return remove


def _padding(name: str) -> Method:
    """Return the method `name` (`center`, `ljust`, `rjust`), which pads to the given width."""
    method = getattr(str, name)

    def pad(budget: RenderBudget, text: str, width: int, fillchar: str = " ") -> str:
        bounded_text(max(texts.whole(width, name), len(text)))
        return built_text(budget, method(text, width, fillchar))

    return pad


def _zfill(budget: RenderBudget, text: str, width: int) -> str:
    bounded_text(max(texts.whole(width, "zfill"), len(text)))
    return built_text(budget, text.zfill(width))


def _expandtabs(budget: RenderBudget, text: str, tabsize: int = 8) -> str:
    """Return the text with each tab replaced by at most `tabsize` spaces."""
    bounded_text(len(text) + text.count("\t") * max(texts.whole(tabsize, "expandtabs"), 0))
    budget.spend(scan(text))
    return built_text(budget, text.expandtabs(tabsize))


def _stripping(name: str) -> Method:
    method = getattr(str, name)

    def strip(budget: RenderBudget, text: str, chars: str | None = None, /) -> str:
        return texts.stripped(budget, text, chars, method)

    return strip


def _partition(budget: RenderBudget, text: str, sep: str, /) -> tuple[str, str, str]:
    budget.spend(scan(text) + scan(_text(sep)))
    return built_texts(budget, text.partition(sep))  # type: ignore[no-any-return]


def _rpartition(budget: RenderBudget, text: str, sep: str, /) -> tuple[str, str, str]:
    budget.spend(_product(text, _text(sep)))
    return built_texts(budget, text.rpartition(sep))  # type: ignore[no-any-return]


def _split(
    budget: RenderBudget, text: str, sep: str | None = None, maxsplit: int = -1
) -> list[str]:
    """Return the parts of the text. Raises TooLarge for more than MAX_ITEMS parts."""
    budget.spend(scan(text) + (0 if sep is None else scan(_text(sep))))
    return _parts(budget, text.split(sep, _splits(budget, text, sep, maxsplit)))


def _rsplit(
    budget: RenderBudget, text: str, sep: str | None = None, maxsplit: int = -1
) -> list[str]:
    budget.spend(scan(text) if sep is None else _product(text, _text(sep)))
    return _parts(budget, text.rsplit(sep, _splits(budget, text, sep, maxsplit)))


def _splits(budget: RenderBudget, text: str, sep: str | None, maxsplit: int) -> int:
    most = MAX_ITEMS if texts.whole(maxsplit, "split") < 0 else min(maxsplit, MAX_ITEMS)
    parts = text.count(sep) if sep else len(text) // 2
    budget.spend(3 * min(parts, most))
    return most


def _parts(budget: RenderBudget, parts: list[str]) -> list[str]:
    return built_texts(budget, parts)  # type: ignore[no-any-return]


def _splitlines(budget: RenderBudget, text: str, keepends: bool = False) -> list[str]:
    return _parts(budget, texts.lines_of(budget, text, bool(keepends)))


def _replace(budget: RenderBudget, text: str, old: str, new: str, count: int = -1, /) -> str:
    return texts.replace(budget, text, old, new, count)


def _join(budget: RenderBudget, separator: str, items: Any, /) -> str:
    return texts.join(budget, items, separator)


def _get(budget: RenderBudget, value: Mapping[Any, Any], name: Any, default: Any = None, /) -> Any:
    budget.spend(1)
    return value.get(comparing.key(name), default)


def _keys(budget: RenderBudget, value: Mapping[Any, Any], /) -> list[Any]:
    return comparing.taken(budget, value)


def _values(budget: RenderBudget, value: Mapping[Any, Any], /) -> list[Any]:
    budget.hold(sys.getsizeof(value))
    budget.spend(1 + len(value))
    return list(value.values())


def pairs(budget: RenderBudget, value: Mapping[Any, Any], /) -> list[tuple[Any, Any]]:
    """Return an object's pairs of a key and a value, and charge the budget."""
    budget.hold(OBJECT * len(value))
    budget.spend(1 + 2 * len(value))
    return list(value.items())


def _index(
    budget: RenderBudget, items: Any, item: Any, start: int = 0, stop: int | None = None, /
) -> int:
    return comparing.index(budget, items, item, start, stop)


def _count(budget: RenderBudget, items: Any, item: Any, /) -> int:
    return comparing.count(budget, items, item)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("the method takes a text")
    return value


def _product(text: str, sub: str) -> int:
    return scan(text) + (len(text) * len(sub) >> 7)


_TEXT_METHODS: Mapping[str, Method] = {
    **{name: texts.cased(getattr(str, name)) for name in texts.CASES},
    **{name: _padding(name) for name in ("center", "ljust", "rjust")},
    **{name: _searching(name) for name in ("count", "find", "index")},
    **{name: _searching_back(name) for name in ("rfind", "rindex")},
    **{name: _affix(name) for name in ("startswith", "endswith")},
    **{name: _without_affix(name) for name in ("removeprefix", "removesuffix")},
    **{name: _stripping(name) for name in ("strip", "lstrip", "rstrip")},
    **{
        name: _reading(name)
        for name in (
            *("isalnum", "isalpha", "isdecimal", "isdigit", "islower"),
            *("isnumeric", "isspace", "istitle", "isupper"),
        )
    },
    "expandtabs": _expandtabs,
    "join": _join,
    "partition": _partition,
    "replace": _replace,
    "rpartition": _rpartition,
    "rsplit": _rsplit,
    "split": _split,
    "splitlines": _splitlines,
    "zfill": _zfill,
}
_LIST_METHODS: Mapping[str, Method] = {"count": _count, "index": _index}
_METHODS: Mapping[type, Mapping[str, Method]] = {
    str: _TEXT_METHODS,
    dict: {"get": _get, "items": pairs, "keys": _keys, "values": _values},
    list: _LIST_METHODS,
    tuple: _LIST_METHODS,
}
