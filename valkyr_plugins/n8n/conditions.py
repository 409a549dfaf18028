"""n8n's conditions, of both forms it has had, as one expression."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.expressions.tree import Untranslatable
from valkyr_plugins.n8n.texts import Texts
from valkyr_plugins.n8n.work import below

Operator = Callable[[str, str], str]


def _has(value: str, _: str) -> str:
    return f"({value} | default(none)) is not none"


def _empty(value: str, _: str) -> str:
    return f"not ({value} | default(none))"


OPERATORS: dict[str, Operator] = {
    "equals": lambda a, b: f"{a} == {b}",
    "notEquals": lambda a, b: f"{a} != {b}",
    "contains": lambda a, b: f"{b} in {a}",
    "notContains": lambda a, b: f"{b} not in {a}",
    "startsWith": lambda a, b: f"{a}.startswith({b})",
    "notStartsWith": lambda a, b: f"not {a}.startswith({b})",
    "endsWith": lambda a, b: f"{a}.endswith({b})",
    "notEndsWith": lambda a, b: f"not {a}.endswith({b})",
    "gt": lambda a, b: f"{a} > {b}",
    "lt": lambda a, b: f"{a} < {b}",
    "gte": lambda a, b: f"{a} >= {b}",
    "lte": lambda a, b: f"{a} <= {b}",
    "lengthEquals": lambda a, b: f"({a} | length) == {b}",
    "lengthNotEquals": lambda a, b: f"({a} | length) != {b}",
    "lengthGt": lambda a, b: f"({a} | length) > {b}",
    "lengthLt": lambda a, b: f"({a} | length) < {b}",
    "exists": _has,
    "notExists": lambda a, b: f"not ({_has(a, b)})",
    "empty": _empty,
    "notEmpty": lambda a, b: f"not ({_empty(a, b)})",
    "true": lambda a, b: a,
    "false": lambda a, b: f"not {a}",
}
_OLD = {
    "equal": "equals", "notEqual": "notEquals", "larger": "gt", "smaller": "lt",
    "largerEqual": "gte", "smallerEqual": "lte", "isEmpty": "empty", "isNotEmpty": "notEmpty",
}  # fmt: skip
_DEFAULTS = {"number": "smaller", "dateTime": "after"}
ALONE = frozenset({"exists", "notExists", "empty", "notEmpty", "true", "false"})

Condition = tuple[str, str, Any, Any]  # the values' type, the operator, left, right


def conditions_of(parameters: Mapping[str, Any]) -> tuple[list[Condition], str]:
    """The conditions, and `and` or `or` between them."""
    given = parameters.get("conditions")
    if isinstance(given, dict) and isinstance(given.get("conditions"), list):
        return list(_new(given["conditions"])), _combined(given.get("combinator"))
    how = parameters.get("combineOperation", parameters.get("combineConditions"))
    old = given if isinstance(given, dict) else {}
    return list(_old(old)), _combined(how)


def _combined(how: Any) -> str:
    return "or" if how in ("or", "OR", "any") else "and"


def _new(given: list[Any]) -> Iterator[Condition]:
    for one in given:
        if isinstance(one, dict):
            kind, name = (
                str(below(one, f"operator.{key}", "") or "") for key in ("type", "operation")
            )
            yield kind, name, one.get("leftValue"), one.get("rightValue")


def _old(given: Mapping[str, Any]) -> Iterator[Condition]:
    for kind, rows in given.items():
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict):
                name = row.get("operation", _DEFAULTS.get(kind, "equal"))
                yield kind, _OLD.get(str(name), str(name)), row.get("value1"), row.get("value2")


def condition(
    texts: Texts, given: list[Condition], combinator: str, *, caseless: bool = False
) -> str:
    """One expression for all of them; raises Untranslatable, with the condition that it is."""
    written = [_one(texts, one, caseless=caseless) for one in given]
    if len(written) == 1:
        return written[0]
    return f" {combinator} ".join(f"({one})" for one in written) or "true"


def condition_template(texts: Texts, parameters: Mapping[str, Any]) -> str:
    """The template of a node's conditions, or what is still to be written in its place."""
    given, combinator = conditions_of(parameters)
    sensitive = below(parameters, "conditions.options.caseSensitive", True)
    caseless = sensitive is False or below(parameters, "options.ignoreCase") is True
    try:
        return "{{ " + condition(texts, given, combinator, caseless=caseless) + " }}"
    except Untranslatable as reason:
        texts.unfinished += 1
        texts.sight.remark(f"The condition was not translated: {reason}.")
        return todo(words(given, combinator))


def words(given: list[Condition], combinator: str) -> str:
    """The conditions as people read them."""
    said = [
        f"{left} {name}" if name in ALONE else f"{left} {name} {right}"
        for _, name, left, right in given
    ]
    return f" {combinator} ".join(said)[:1000] or "a condition"


def _one(texts: Texts, given: Condition, *, caseless: bool) -> str:
    kind, name, left, right = given
    write = OPERATORS.get(name)
    if write is None or (kind == "dateTime" and name not in ALONE):
        raise Untranslatable(
            f'there is no equal of "{name or "nothing"}" of {kind or "any"} values'
        )
    first = texts.operand(left)
    if name in ALONE:
        return write(first, "")
    second = texts.operand(_number(right) if kind == "number" else right)
    if caseless and kind == "string":
        first, second = f"{first}.lower()", f"{second}.lower()"
    return write(first, second)


def _number(value: Any) -> Any:
    """A number that the form kept as a text."""
    try:
        return float(value) if isinstance(value, str) and "." in value else int(value)
    except (TypeError, ValueError):
        return value
