"""The most specific rule that matches a target applies first; broader rules fill in what it
leaves open.
"""

import pytest

from runners.targets.rules import (
    BASE,
    DEFAULTS,
    TargetLimits,
    TargetRule,
    limits_for,
    matches,
    timeout_seconds,
)


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("*", ""),
        ("*", "anything"),
        ("llm:*", "llm:gpt-4o"),
        ("LLM:GLM-*", "llm:glm-4-plus"),
        ("http.request:*.example.com", "http.request:api.example.com"),
        ("*a*b*", "xxaxxbx"),
        ("a**b", "ab"),
        ("http.request:[::1]:80", "http.request:[::1]:80"),
    ],
)
def test_a_star_stands_for_any_characters(pattern: str, target: str) -> None:
    assert matches(pattern, target)


@pytest.mark.parametrize(
    ("pattern", "target"),
    [
        ("", "x"),
        ("llm:glm-*", "llm:gpt"),
        ("a*a", "a"),
        ("a.c", "abc"),
        ("llm:*", "vector:llm:x"),
        ("*b", "ba"),
        ("[a-z]", "b"),
    ],
)
def test_nothing_else_stands_for_anything(pattern: str, target: str) -> None:
    assert not matches(pattern, target)


def test_a_pattern_full_of_stars_is_answered_at_once() -> None:
    # Read as a naive regular expression, this would not end in our lifetime.
    assert not matches("a*" * 140 + "b", "a" * 300)


@pytest.mark.parametrize(
    ("target", "failures", "recovery"),
    [
        ("llm:deepseek-r1-distill", 3, 300),
        ("llm:deepseek-reasoner", 3, 300),
        ("llm:deepseek-chat", 5, 60),
        ("llm:glm-4-plus", 5, 180),
        ("llm:gpt-4o", 5, 60),
        ("vector:qdrant", 3, 30),
        ("mongodb:orders", 5, 45),
        ("http.request:api.example.com", 5, 60),
    ],
)
def test_well_known_targets_have_the_numbers_that_were_promised(
    target: str, failures: int, recovery: float
) -> None:
    found = limits_for(target, DEFAULTS, BASE)

    assert (found.failures, found.recovery) == (failures, recovery)


@pytest.mark.parametrize(
    ("model", "seconds"),
    [
        ("deepseek-r1", 300),
        ("DeepSeek-Reasoner", 300),
        ("glm-4.6", 180),
        ("deepseek-chat", 120),
        ("", 120),
    ],
)
def test_models_that_reason_have_longer(model: str, seconds: float) -> None:
    assert timeout_seconds(model) == seconds


def test_a_rule_says_what_a_more_specific_one_leaves_open() -> None:
    rules = [
        TargetRule("llm:*", failures=9, recovery=7),
        TargetRule("llm:gpt-*", failures=2),
        *DEFAULTS,
    ]

    assert limits_for("llm:gpt-4", rules, BASE) == TargetLimits(2, 60, 7, 120)


def test_an_administrators_rule_comes_before_the_default_of_the_same_pattern() -> None:
    rules = [TargetRule("llm:*", failures=9), *DEFAULTS]

    assert limits_for("llm:gpt", rules, BASE).failures == 9
    assert limits_for("llm:glm-4", rules, BASE).failures == 5


def test_a_longer_beginning_counts_more_than_more_characters() -> None:
    rules = [
        TargetRule("http.request:*.internal.example.com", failures=1),
        TargetRule("http.request:a*", 2),
    ]

    assert limits_for("http.request:a.internal.example.com", rules, BASE).failures == 2
