"""If, Filter and Switch: gates. What goes on is what came in."""

from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.conditions import Condition, condition, condition_template, conditions_of
from valkyr_plugins.n8n.expressions.tree import Untranslatable
from valkyr_plugins.n8n.texts import is_expression
from valkyr_plugins.n8n.work import Left, Made, NodeWork, family

MAX_OUTCOME = 100
FALLBACK = "fallback"


@family("if")
def if_(work: NodeWork) -> Made:
    """`flow.if`: the first output is `true`, the second `false`."""
    template = condition_template(work.texts, work.node.parameters)
    return Made("flow.if", {"condition": template}, work.shape, {0: "true", 1: "false"})


@family("filter")
def filter_(work: NodeWork) -> Made:
    """`flow.if`, which goes on along `true` alone."""
    template = condition_template(work.texts, work.node.parameters)
    return Made("flow.if", {"condition": template}, work.shape, {0: "true", 1: "false"})


@family("switch")
def switch(work: NodeWork) -> Made:
    """`flow.switch`: over a value where all cases compare it, else over what the cases come to."""
    if work.word("mode") == "expression":
        return _by_number(work)
    cases = _new_cases(work) or _old_cases(work)
    if not cases:
        raise Left("its rules cannot be read; write them as a flow.switch")
    fallback = _fallback(work, cases)
    outcomes = {place: name for place, name, _, _ in cases}
    outcomes.setdefault(fallback, FALLBACK)
    inputs = _over_value(work, cases) or _over_conditions(work, cases)
    default = outcomes[fallback]
    return Made("flow.switch", inputs | {"default": default}, work.shape, outcomes)


Case = tuple[int, str, list[Condition], str]  # the output, its name, its conditions, and/or


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
    """An outcome that no other output has."""
    text = str(name).strip() if isinstance(name, (str, int, float)) else ""
    taken = {case[1] for case in found} | {"error", FALLBACK, ""}
    sound = text not in taken and len(text) <= MAX_OUTCOME and "{{" not in text
    return text if sound and not is_expression(text) else f"output{place}"


def _fallback(work: NodeWork, cases: list[Case]) -> int:
    given = work.get("options.fallbackOutput", work.get("fallbackOutput", -1))
    last = max(case[0] for case in cases) + 1
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    return last


def _over_value(work: NodeWork, cases: list[Case]) -> dict[str, Any] | None:
    """Where every case is one comparison of the same value with a written one."""
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
    """The first case that holds names the outcome."""
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
    """An expression that yields the number of the output."""
    count = work.get("numberOutputs", 4)
    count = count if isinstance(count, int) and 0 < count < MAX_OUTCOME else 4
    outcomes = {place: str(place) for place in range(count)}
    value = work.value(work.get("output", ""))
    inputs = {"value": value, "cases": list(outcomes.values()), "default": FALLBACK}
    return Made("flow.switch", inputs, work.shape, outcomes)
