"""Which numbers hold for a target: of the patterns that match it the most specific speaks first.

Pure: the rules are given, nothing is read.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TargetRule:
    """What a pattern says of the targets it matches; `*` stands for any characters, also none.

    None leaves a number to the next rule. Times are in seconds; `timeout` is how long a call of a
    model may take.
    """

    pattern: str
    failures: int | None = None
    window: float | None = None
    recovery: float | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class TargetLimits:
    """What holds for a target: `failures` within `window` seconds open it for `recovery`."""

    failures: int
    window: float
    recovery: float
    timeout: float | None = None


def limits_for(target: str, rules: Iterable[TargetRule], base: TargetLimits) -> TargetLimits:
    """The numbers of a target; `base` gives what no rule says.

    Where two rules have one pattern, the first of them speaks first.
    """
    speaking = sorted((rule for rule in rules if matches(rule.pattern, target)), key=_order)
    return TargetLimits(
        failures=_first([rule.failures for rule in speaking], base.failures),
        window=_first([rule.window for rule in speaking], base.window),
        recovery=_first([rule.recovery for rule in speaking], base.recovery),
        timeout=_first([rule.timeout for rule in speaking], base.timeout),
    )


def matches(pattern: str, target: str) -> bool:
    """Whether the pattern covers the whole target, in capitals or not."""
    return _expression(pattern).fullmatch(target) is not None


def specificity(pattern: str) -> tuple[int, int]:
    """The more the more specific: characters before the first `*`, then all that are none."""
    return len(pattern.partition("*")[0]), len(pattern.replace("*", ""))


def _order(rule: TargetRule) -> tuple[int, int, str]:
    prefix, literal = specificity(rule.pattern)
    # Two that are as specific: by their text, so that the answer is always the same.
    return -prefix, -literal, rule.pattern


def _first(found: Iterable[T | None], otherwise: T) -> T:
    return next((number for number in found if number is not None), otherwise)


@lru_cache(maxsize=1_000)
def _expression(pattern: str) -> re.Pattern[str]:
    # Runs of `*` are one, and groups keep what they took: a hostile pattern costs no more.
    parts = [re.escape(part) for part in re.split(r"\*+", pattern)]
    return re.compile(_joined(parts), re.IGNORECASE | re.DOTALL)


def _joined(parts: list[str]) -> str:
    """As a glob is read: each part where it first occurs, the last one at the end."""
    first, *others = parts
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>.*?{part})" for part in middle) + ".*" + last


# What holds for well-known targets where nobody wrote a rule; plain data, without tables.
#
# An administrator's rules of the same pattern, or a more specific one, come first.


DEFAULTS: tuple[TargetRule, ...] = (
    # Models that reason are slow by nature, and their providers slow to recover.
    TargetRule("llm:deepseek-r1*", failures=3, recovery=300, timeout=300),
    TargetRule("llm:deepseek-reasoner*", failures=3, recovery=300, timeout=300),
    TargetRule("llm:glm-*", failures=5, recovery=180, timeout=180),
    TargetRule("llm:*", failures=5, recovery=60, timeout=120),
    TargetRule("vector:*", failures=3, recovery=30),
    TargetRule("mongodb:*", failures=5, recovery=45),
)
# What holds for every other target is the installation's, by its settings.
BASE = TargetLimits(failures=5, window=60, recovery=60)


def timeout_seconds(model: str) -> float:
    """How long a call of a language model may take, in seconds, by its name: `glm-4-plus`."""
    found = limits_for(f"llm:{model}", DEFAULTS, BASE).timeout
    assert found is not None, "llm:* gives every model a time-out"
    return found
