"""How a gate's outcomes follow from its `with`, as data: for the server, and for the studio."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Take = Literal["each", "value", "given", "equals"]


@dataclass(frozen=True, slots=True)
class OutcomeRule:
    """What one key of `with` adds to the outcomes.

    `each`: every item of its list, or every value of its mapping, as text. `value`: its value, or
    `otherwise` where it has none. `given`: `outcomes`, where it is there and not null. `equals`:
    `outcomes`, where its value is `equals`.
    """

    key: str
    take: Take
    outcomes: tuple[str, ...] = ()
    equals: str = ""
    otherwise: str = ""


def outcomes_by(rules: Sequence[OutcomeRule], config: Mapping[str, Any]) -> tuple[str, ...]:
    """The outcomes by all rules, in their order, each once; none where there is only `success`."""
    return tuple(dict.fromkeys(one for rule in rules for one in _added(rule, config)))


def outcome_text(value: Any) -> str:
    """A value as an outcome, as JSON writes it; whole floats lose their `.0`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _added(rule: OutcomeRule, config: Mapping[str, Any]) -> Iterator[str]:
    value = config.get(rule.key)
    if rule.take == "each":
        yield from _each(value)
    elif rule.take == "value":
        yield str(config.get(rule.key, rule.otherwise))
    elif (rule.take == "given" and value is not None) or (
        rule.take == "equals" and value == rule.equals
    ):
        yield from rule.outcomes


def _each(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from map(str, value.values())
    elif isinstance(value, list | tuple):
        yield from map(outcome_text, value)
