"""For any policy, delays are bounded, grow, and end after the last attempt."""

import math
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from executions.definition.graph.model import RetryPolicy
from runners.failures.retry import MAX_DELAY_SECONDS, delay, parse_retry_after

seconds = st.floats(0, 10_000)
shares = st.floats(0, 1)
policies = st.builds(
    RetryPolicy,
    name=st.just("any"),
    max_attempts=st.integers(1, 10_000),
    base_seconds=seconds,
    max_seconds=st.none() | seconds,
    jitter_add=st.tuples(seconds, seconds).map(lambda pair: (min(pair), max(pair))),
    jitter_ratio=shares,
)
attempts = st.integers(1, 10_000)
wishes = st.none() | st.floats(0, allow_infinity=True)


@given(policies, attempts, shares, wishes)
def test_a_delay_is_between_nothing_and_a_day(policy, attempt, random, wish):
    found = delay(policy, attempt, random=random, retry_after=wish)

    assert (found is None) == (attempt >= policy.max_attempts)
    assert found is None or 0 <= found <= MAX_DELAY_SECONDS


@given(policies, attempts, shares)
def test_the_cap_applies_after_the_jitter(policy, attempt, random):
    found = delay(policy, attempt, random=random)

    if found is not None and policy.max_seconds is not None:
        assert found <= policy.max_seconds


@given(policies, attempts, shares)
def test_later_attempts_wait_no_less(policy, attempt, random):
    found = [delay(policy, n, random=random) for n in (attempt, attempt + 1)]

    if None not in found:
        assert found[0] <= found[1] or math.isclose(*found)


@given(policies, attempts, shares, st.floats(0, MAX_DELAY_SECONDS))
def test_a_servers_wish_is_kept(policy, attempt, random, wish):
    found = delay(policy, attempt, random=random, retry_after=wish)

    assert found is None or found >= wish


@given(
    st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{1,5} \d\d:\d\d:\d\d .{0,6}")
)
def test_any_header_is_read_or_left(header):
    found = parse_retry_after(header, datetime.now(UTC))

    assert found is None or found >= 0
