"""Filters for lists and objects.

Each item is charged to the budget; a generator's items are charged when they are taken. The filters
that `map` and `select` call for each item charge their own work.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from jinja2.filters import FILTERS
from jinja2.runtime import Context, Undefined

from executions.definition.templating import methods
from executions.definition.templating.access import (
    READ_WORK,
    StrictName,
    attribute_parts,
    attribute_reader,
)
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import equal, extreme, ordered, taken
from executions.definition.templating.errors import TooLarge
from executions.definition.templating.texts import whole
from executions.definition.templating.values import OBJECT, POINTER, bounded_items, weigh

CALL_WORK = 50  # units for one call of a filter or test for one item
MAX_ARGUMENTS = 100
BLOCK = 16


def batch(
    budget: RenderBudget, value: Any, linecount: int, fill_with: Any = None
) -> Iterator[list[Any]]:
    """Yield lists of `linecount` items; `fill_with` fills up the last list."""
    size = whole(linecount, "batch")
    bounded_items(size)
    items = taken(budget, value)
    for start in range(0, len(items), max(size, 1)):
        part = items[start : start + max(size, 1)]
        budget.spend(4)
        if fill_with is not None and len(part) < size:
            budget.hold(POINTER * size)
            part += [fill_with] * (size - len(part))
        budget.hold(OBJECT + POINTER * len(part))
        yield part


def default(_: RenderBudget, value: Any, default_value: Any = "", boolean: bool = False) -> Any:
    """Apply the filter `default`: replace a missing value or, with `boolean`, a false value."""
    return default_value if isinstance(value, Undefined) or (boolean and not value) else value


def dictsort(
    budget: RenderBudget,
    value: Mapping[Any, Any],
    case_sensitive: bool = False,
    by: str = "key",
    reverse: bool = False,
) -> list[Any]:
    """Return an object's pairs, sorted by key or value. Raises TypeError and ValueError."""
    if by not in ("key", "value"):
        raise ValueError('dictsort sorts by "key" or "value"')
    if not isinstance(value, Mapping):
        raise TypeError("dictsort takes an object")
    at = 0 if by == "key" else 1
    read = attribute_reader(budget, at, caseless=not case_sensitive)
    return ordered(budget, methods.pairs(budget, value), read, reverse=bool(reverse))


def first(budget: RenderBudget, value: Any) -> Any:
    """Return the first item of a list, string or generator; a StrictName if there is none."""
    budget.spend(1)
    for item in value:
        return item
    return StrictName("the list is empty, so it has no first item")


def last(budget: RenderBudget, value: Any) -> Any:
    """Return the last item of a list or string; a StrictName if there is none."""
    budget.spend(1)
    for item in reversed(value):
        return item
    return StrictName("the list is empty, so it has no last item")


def groupby(
    budget: RenderBudget,
    value: Any,
    attribute: Any,
    default: Any = None,
    case_sensitive: bool = False,
) -> list[tuple[Any, list[Any]]]:
    """Return pairs of an attribute's value and the items that have it, sorted by that value."""
    read = attribute_reader(budget, attribute, default=default, caseless=not case_sensitive)
    shown = attribute_reader(budget, attribute, default=default)
    groups: list[tuple[Any, list[Any]]] = []
    before: Any = None
    for item in ordered(budget, taken(budget, value), read):
        key = read(item)
        budget.spend(CALL_WORK)
        if not groups or not equal(budget, before, key):
            budget.hold(2 * OBJECT)
            groups.append((shown(item), []))
            before = key
        groups[-1][1].append(item)
    return groups


def items(budget: RenderBudget, value: Any) -> list[tuple[Any, Any]]:
    """Apply the filter `items`: return an object's pairs; [] if it is missing. Raises TypeError."""
    if isinstance(value, Undefined):
        return []
    if not isinstance(value, Mapping):
        raise TypeError("items takes an object")
    return methods.pairs(budget, value)


def length(_: RenderBudget, value: Any) -> int:
    """Apply the filter `length` (`count`), which reads no items."""
    return len(value)


def maximum(
    budget: RenderBudget, value: Any, case_sensitive: bool = False, attribute: Any = None
) -> Any:
    """Return the greatest item, compared by `attribute` if given; a StrictName if there is none."""
    return _extreme(budget, value, case_sensitive, attribute, max)


def minimum(
    budget: RenderBudget, value: Any, case_sensitive: bool = False, attribute: Any = None
) -> Any:
    """Return the least item, compared by `attribute` if given; a StrictName if there is none."""
    return _extreme(budget, value, case_sensitive, attribute, min)


def _extreme(
    budget: RenderBudget,
    value: Any,
    case_sensitive: bool,
    attribute: Any,
    choose: Callable[..., Any],
) -> Any:
    found = taken(budget, value)
    if not found:
        return StrictName("the list is empty, so it has no such item")
    read = attribute_reader(budget, attribute, caseless=not case_sensitive)
    return extreme(budget, found, read, choose)


def backwards(budget: RenderBudget, value: Any) -> Any:
    """Apply the filter `reverse` to a string, or to items, which become a list."""
    if isinstance(value, str):
        budget.spend(1 + (len(value) >> 3))
        budget.hold(4 * len(value))
        return value[::-1]
    return taken(budget, value)[::-1]


def slices(budget: RenderBudget, value: Any, slices: int, fill_with: Any = None) -> list[list[Any]]:
    """Apply the filter `slice`: return the given number of lists, of about equal length."""
    count = whole(slices, "slice")
    bounded_items(count)
    if count < 1:
        raise ValueError("slice takes a number of lists, at least 1")
    found = taken(budget, value)
    budget.spend(10 * count)
    budget.hold((OBJECT + 2 * POINTER) * count + POINTER * len(found))
    each, more = divmod(len(found), count)
    parts, start = [], 0
    for number in range(count):
        end = start + each + (number < more)
        part = found[start:end]
        if fill_with is not None and number >= more:
            part.append(fill_with)
        parts.append(part)
        start = end
    return parts


def sort(
    budget: RenderBudget,
    value: Any,
    reverse: bool = False,
    case_sensitive: bool = False,
    attribute: Any = None,
) -> list[Any]:
    """Return the items sorted by their values, or by one or more attributes (`"age,name"`)."""
    named = attribute.split(",") if isinstance(attribute, str) and "," in attribute else None
    if named is None:
        read = attribute_reader(budget, attribute, caseless=not case_sensitive)
    else:
        if len(named) > MAX_ARGUMENTS:
            raise TooLarge(f"sort takes at most {MAX_ARGUMENTS} attributes")
        readers = [attribute_reader(budget, one, caseless=not case_sensitive) for one in named]

        def read(item: Any) -> Any:
            budget.hold(OBJECT + POINTER * len(readers))
            return [reader(item) for reader in readers]

    return ordered(budget, taken(budget, value), read, reverse=bool(reverse))


def unique(
    budget: RenderBudget, value: Any, case_sensitive: bool = False, attribute: Any = None
) -> Iterator[Any]:
    """Yield each item whose key is new; the key is the item itself or its `attribute`."""
    read = attribute_reader(budget, attribute, caseless=not case_sensitive)
    seen = set()
    for item in counted(budget, value, CALL_WORK // 2):
        key = read(item)
        budget.spend(weigh(budget, key))
        if key not in seen:
            budget.hold(OBJECT)
            seen.add(key)
            yield item


def sliced(budget: RenderBudget, value: Any, start: Any, stop: Any, step: Any) -> Any:
    """Return `value[start:stop:step]`; a StrictName if the value cannot be sliced."""
    part = slice(start, stop, step)
    if not isinstance(value, (str, list, tuple, range)):
        return StrictName(obj=value, name=":")
    count = len(range(*part.indices(len(value))))
    if not isinstance(value, range):
        budget.spend(1 + (count >> (3 if isinstance(value, str) else 1)))
        budget.hold(count * (4 if isinstance(value, str) else POINTER))
    return value[part]


def counted(budget: RenderBudget, value: Iterable[Any], units: int) -> Iterator[Any]:
    """Yield the items, and charge `units` for each; a list's items are charged in groups."""
    if isinstance(value, (list, tuple)):
        for start in range(0, len(value), BLOCK):
            block = value[start : start + BLOCK]
            budget.spend(units * len(block))
            yield from block
        return
    for item in value:
        budget.spend(units)
        yield item


def each(name: str) -> Callable[..., Any]:
    """Return `map`, `select`, `reject`, or a variant for attributes, such as `selectattr`.

    The result is Jinja's own filter, over counted items. The name of a filter or test must be a
    string, and each item is charged for the call and its arguments.
    """
    function: Any = FILTERS[name]
    at = 1 if name.endswith("attr") else 0

    def applied(context: Context, value: Any, /, *args: Any, **kwargs: Any) -> Any:
        if len(args) + len(kwargs) > MAX_ARGUMENTS:
            raise TooLarge(f"{name} takes at most {MAX_ARGUMENTS} arguments")
        if len(args) > at and not isinstance(args[at], str):
            raise TypeError(f"{name} takes the name of a filter or test, as text")
        named = [*args[:at], kwargs.get("attribute")]
        parts = sum(len(attribute_parts(attribute)) for attribute in named)
        units = CALL_WORK + len(args) + len(kwargs) + READ_WORK * parts
        budget: RenderBudget = context.budget  # type: ignore[attr-defined]
        return function(context, counted(budget, value, units) if value else value, *args, **kwargs)

    return applied
