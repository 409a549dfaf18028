"""Select the limits of a target: the most specific matching pattern has precedence.

This module is pure: it reads no tables.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TargetRule:
    """The limits of the targets that a pattern matches; `*` stands for any number of characters.

    A limit of None is taken from the next less specific rule. Times are in seconds; `timeout` is
    the maximum duration of a call to the target.
    """

    pattern: str
    failures: int | None = None
    window: float | None = None
    recovery: float | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class TargetLimits:
    """The limits of a target: `failures` within `window` s open its circuit for `recovery` s."""

    failures: int
    window: float
    recovery: float
    timeout: float | None = None


def limits_for(target: str, rules: Iterable[TargetRule], base: TargetLimits) -> TargetLimits:
    """Return the limits of a target; `base` contains the limits that no rule sets.

    If two rules have the same pattern, the first one has precedence.
    """
    speaking = sorted((rule for rule in rules if matches(rule.pattern, target)), key=_order)
    return TargetLimits(
        failures=_first([rule.failures for rule in speaking], base.failures),
        window=_first([rule.window for rule in speaking], base.window),
        recovery=_first([rule.recovery for rule in speaking], base.recovery),
        timeout=_first([rule.timeout for rule in speaking], base.timeout),
    )


def matches(pattern: str, target: str) -> bool:
    """Return whether the pattern matches the whole target, ignoring case."""
    return _expression(pattern).fullmatch(target) is not None


def specificity(pattern: str) -> tuple[int, int]:
    """Return a sort key: how many characters precede the first `*`, and how many are not `*`."""
    return len(pattern.partition("*")[0]), len(pattern.replace("*", ""))


def _order(rule: TargetRule) -> tuple[int, int, str]:
    prefix, literal = specificity(rule.pattern)
    # Equally specific patterns are ordered by their text, so that the result is deterministic.
    return -prefix, -literal, rule.pattern


def _first(found: Iterable[T | None], otherwise: T) -> T:
    return next((number for number in found if number is not None), otherwise)


@lru_cache(maxsize=1_000)
def _expression(pattern: str) -> re.Pattern[str]:
    # Consecutive `*` are merged, and the groups are atomic, so no pattern causes costly
    # backtracking.
    parts = [re.escape(part) for part in re.split(r"\*+", pattern)]
    return re.compile(_joined(parts), re.IGNORECASE | re.DOTALL)


def _joined(parts: list[str]) -> str:
    """Return the regular expression for a glob's parts; the last part must match at the end."""
    first, *others = parts
    if not others:
        return first
    *middle, last = others
    return first + "".join(f"(?>.*?{part})" for part in middle) + ".*" + last


# The default rules for well-known targets. This module contains only data and reads no tables.
#
# An administrator's rule takes precedence if its pattern is equal or more specific.


DEFAULTS: tuple[TargetRule, ...] = (
    # Reasoning models are slow, and their providers recover slowly.
    TargetRule("llm:deepseek-r1*", failures=3, recovery=300, timeout=300),
    TargetRule("llm:deepseek-reasoner*", failures=3, recovery=300, timeout=300),
    TargetRule("llm:glm-*", failures=5, recovery=180, timeout=180),
    TargetRule("llm:*", failures=5, recovery=60, timeout=120),
    TargetRule("vector:*", failures=3, recovery=30),
    TargetRule("mongodb:*", failures=5, recovery=45),
)
# The installation's settings apply to every other target.
BASE = TargetLimits(failures=5, window=60, recovery=60)


def timeout_seconds(model: str) -> float:
    """Return the default timeout, in seconds, of calls to a language model such as `glm-4-plus`."""
    found = limits_for(f"llm:{model}", DEFAULTS, BASE).timeout
    assert found is not None, "llm:* sets a timeout for every model"
    return found
