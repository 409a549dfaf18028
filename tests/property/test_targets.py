"""Rules of targets apply independently of their order, and patterns match as their parts do."""

from hypothesis import given
from hypothesis import strategies as st

from runners.targets.rules import TargetLimits, TargetRule, limits_for, matches, specificity

patterns = st.text("ab:*", min_size=0, max_size=8)
rules = st.builds(
    TargetRule,
    pattern=patterns,
    failures=st.none() | st.integers(1, 9),
    window=st.none() | st.floats(1, 9),
)


@given(st.text("ab:", max_size=8), st.lists(rules, max_size=8), st.randoms())
def test_the_most_specific_rule_speaks_first_in_whatever_order_they_stand(target, given_, random):
    base = TargetLimits(5, 60, 60)
    one_each = list({rule.pattern: rule for rule in given_}.values())
    found = limits_for(target, one_each, base)
    random.shuffle(one_each)
    assert limits_for(target, one_each, base) == found
    speaking = [
        rule for rule in one_each if matches(rule.pattern, target) and rule.failures is not None
    ]
    most = max((specificity(rule.pattern) for rule in speaking), default=None)
    assert found.failures in {
        rule.failures for rule in speaking if specificity(rule.pattern) == most
    } | ({base.failures} if most is None else set())


@given(patterns, st.text("ab:", max_size=8))
def test_a_pattern_matches_as_its_pieces_say(pattern, target):
    def reference(pattern: str, target: str) -> bool:
        if not pattern:
            return not target
        if pattern[0] == "*":
            return any(reference(pattern[1:], target[n:]) for n in range(len(target) + 1))
        return target[:1] == pattern[0] and reference(pattern[1:], target[1:])

    assert matches(pattern, target) == reference(pattern, target)
