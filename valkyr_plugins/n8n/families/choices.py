"""Convert If, Filter and Switch into branch tasks; later tasks read the node's input directly."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.expressions.parsing import Untranslatable
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork, below, family
from valkyr_plugins.n8n.texts import Texts, is_expression

# Convert n8n's conditions, in both of their formats, to one expression.


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

# The values' type, the operator, and the left and right values.
Condition = tuple[str, str, Any, Any]


def conditions_of(parameters: Mapping[str, Any]) -> tuple[list[Condition], str]:
    """Return the conditions, and the operator between them: `and` or `or`."""
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
    """Return one expression for all conditions.

    Raises Untranslatable if a condition has no equivalent.
    """
    written = [_one(texts, one, caseless=caseless) for one in given]
    if len(written) == 1:
        return written[0]
    return f" {combinator} ".join(f"({one})" for one in written) or "true"


def condition_template(texts: Texts, parameters: Mapping[str, Any]) -> str:
    """Return the template of a node's conditions; a `todo` call if one cannot be translated."""
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
    """Return the conditions as text, joined by the combinator."""
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
            f'there is no equivalent of "{name or "nothing"}" for {kind or "any"} values'
        )
    first = texts.operand(left)
    if name in ALONE:
        return write(first, "")
    second = texts.operand(_number(right) if kind == "number" else right)
    if caseless and kind == "string":
        first, second = f"{first}.lower()", f"{second}.lower()"
    return write(first, second)


def _number(value: Any) -> Any:
    """Convert a number that n8n's form stored as text; return other values unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return float(value) if "." in value else int(value)
    except ValueError:
        return value


MAX_OUTCOME = 100
FALLBACK = "fallback"


@family("if")
def if_(work: NodeWork) -> Made:
    """Make a `flow.if` task: the first output is `true`, and the second is `false`."""
    template = condition_template(work.texts, work.node.parameters)
    return Made("flow.if", {"condition": template}, work.shape, {0: "true", 1: "false"})


@family("filter")
def filter_(work: NodeWork) -> Made:
    """Make a `flow.if` task; the tasks after the filter follow the outcome `true`."""
    template = condition_template(work.texts, work.node.parameters)
    return Made("flow.if", {"condition": template}, work.shape, {0: "true", 1: "false"})


@family("switch")
def switch(work: NodeWork) -> Made:
    """Make a `flow.switch` task over a value that all cases compare, or over the first true case.

    In the mode `expression`, the value is the number of an output. Raises Left for invalid rules.
    """
    if work.word("mode") == "expression":
        return _by_number(work)
    cases = _new_cases(work) or _old_cases(work)
    if not cases and not work.get("rules"):
        return _unwritten(work)
    if not cases:
        raise Left("its rules cannot be parsed; write them as a flow.switch")
    fallback = _fallback(work, cases)
    outcomes = {place: name for place, name, _, _ in cases}
    outcomes.setdefault(fallback, FALLBACK)
    inputs = _over_value(work, cases) or _over_conditions(work, cases)
    default = outcomes[fallback]
    return Made("flow.switch", inputs | {"default": default}, work.shape, outcomes)


def _unwritten(work: NodeWork) -> Made:
    """Make a `flow.switch` task with a `todo` in place of the rules, which the file lacks."""
    work.texts.unfinished += 1
    work.remark("The file does not have its rules: write what each output is for.")
    outcomes = {place: f"output{place}" for place in range(4)}
    inputs = {"value": todo("the rules"), "cases": list(outcomes.values()), "default": FALLBACK}
    return Made("flow.switch", inputs, work.shape, outcomes)


# The number and name of the output, its conditions, and "and" or "or".
Case = tuple[int, str, list[Condition], str]


def _new_cases(work: NodeWork) -> list[Case]:
    rules = work.names("rules.values") or work.names("rules.rules")
    found: list[Case] = []
    for place, rule in enumerate(rules):
        if "conditions" not in rule:
            return []
        given, combinator = conditions_of(rule)
        name = rule.get("outputKey") if rule.get("renameOutput") else None
        found.append((place, _outcome(name, place, found), given, combinator))
    return found


def _old_cases(work: NodeWork) -> list[Case]:
    kind = work.word("dataType", "number")
    value = work.get("value1")
    found: list[Case] = []
    for rule in work.names("rules.rules"):
        output = rule.get("output", rule.get("outputKey", 0))
        place = output if isinstance(output, int) and 0 <= output < MAX_OUTCOME else len(found)
        given = conditions_of(
            {"conditions": {kind: [{**rule, "value1": value}]}},
        )
        known = next((case[1] for case in found if case[0] == place), None)
        name = known or _outcome(rule.get("value2"), place, found)
        found.append((place, name, *given))
    return found


def _outcome(name: Any, place: int, found: list[Case]) -> str:
    """Return an output's outcome: `name` if that is valid and unused, otherwise a numbered name."""
    text = str(name).strip() if isinstance(name, (str, int, float)) else ""
    taken = {case[1] for case in found} | {"error", FALLBACK, ""}
    sound = text not in taken and len(text) <= MAX_OUTCOME and "{{" not in text
    if sound and not is_expression(text):
        return text
    outcome, number = f"output{place}", 2
    while outcome in taken:
        outcome, number = f"output{place}_{number}", number + 1
    return outcome


def _fallback(work: NodeWork, cases: list[Case]) -> int:
    given = work.get("options.fallbackOutput", work.get("fallbackOutput", -1))
    last = max(case[0] for case in cases) + 1
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    return last


def _over_value(work: NodeWork, cases: list[Case]) -> dict[str, Any] | None:
    """Return inputs for cases that each compare the same value with a constant; otherwise None."""
    plain = all(
        len(given) == 1 and given[0][1] == "equals" and _written(given[0][3])
        for _, _, given, _ in cases
    )
    values = [case[2][0][2] for case in cases if case[2]]
    if not plain or any(value != values[0] for value in values) or not is_expression(values[0]):
        return None
    compared = [str(case[2][0][3]) for case in cases]
    if len(set(compared)) < len(compared):
        return None
    return {
        "value": work.value(values[0]),
        "cases": {text: case[1] for text, case in zip(compared, cases, strict=True)},
    }


def _written(value: Any) -> bool:
    plain = isinstance(value, (str, int)) and not isinstance(value, bool)
    return plain and not is_expression(value) and "{{" not in str(value)


def _over_conditions(work: NodeWork, cases: list[Case]) -> dict[str, Any]:
    """Return inputs of a `flow.switch`: its outcome is the first case whose conditions are met."""
    names = list(dict.fromkeys(case[1] for case in cases))
    written = ""
    try:
        for _, name, given, combinator in cases:
            test = condition(work.texts, given, combinator)
            written += f'"{_quoted(name)}" if {test} else '
        value = "{{ " + written + '"" }}'
    except Untranslatable as reason:
        work.texts.unfinished += 1
        work.remark(f"A rule was not translated: {reason}.")
        value = todo("; ".join(f"{name}: …" for name in names))
    return {"value": value, "cases": names}


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _by_number(work: NodeWork) -> Made:
    """Make a `flow.switch` task over an expression that yields the number of an output."""
    count = work.get("numberOutputs", 4)
    count = count if isinstance(count, int) and 0 < count < MAX_OUTCOME else 4
    outcomes = {place: str(place) for place in range(count)}
    value = work.value(work.get("output", ""))
    inputs = {"value": value, "cases": list(outcomes.values()), "default": FALLBACK}
    return Made("flow.switch", inputs, work.shape, outcomes)
