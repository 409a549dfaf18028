"""Decide whether a canary version must stop, from counts of both versions. This module is pure.

Two tests share one limit. The plain test compares the share of bad executions with the limit once
`at_least` executions have ended. Earlier, a sequential test stops a version clearly above the
limit.

Only the sequential test bounds the probability of a wrong stop. In the plain test, a version whose
true rate is near the limit exceeds it sooner or later. A simulation had a limit of 10 %, `at_least`
50, and 50 executions. Of the versions that fail 20 % of the time, 96 % stopped. Of the versions
that fail 10 % of the time, 36 % stopped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# The maximum probability that the sequential test ever stops a version that is within its limit.
ERROR_RATE = 0.01
# The share of a version's executions that, by definition, take longer than its 95th percentile.
BEYOND_P95 = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class StopRule:
    """The rule that stops a canary; None switches a condition off.

    `failure_rate` is in per cent of the ended executions. `slower` is the largest allowed ratio of
    the canary's 95th percentile to the latest version's. The canary stops after `new_group` dead
    letters in one failure group that no other version has.
    """

    at_least: int = 50
    failure_rate: float | None = 10.0
    slower: float | None = None
    new_group: int | None = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SideFigures:
    """Counts of the newest executions that started on one version; times are in seconds.

    `ended` counts the executions that succeeded or failed, and `failed` includes time-outs. `slow`
    counts the succeeded and live executions that have taken longer than `slow_limit`. Percentiles
    cover only succeeded executions.
    """

    started: int = 0
    ended: int = 0
    failed: int = 0
    cancelled: int = 0
    slow: int = 0
    p50: float | None = None
    p95: float | None = None

    @property
    def succeeded(self) -> int:
        """Return the number of executions that succeeded."""
        return self.ended - self.failed

    @property
    def failure_rate(self) -> float | None:
        """Return the failed share of the ended executions, in percent; None if none ended."""
        return 100 * self.failed / self.ended if self.ended else None


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A failure group that only the canary version has: its name and its number of dead letters."""

    name: str
    count: int


def slow_limit(rule: StopRule, latest: SideFigures) -> float | None:
    """Return the duration in seconds above which a canary's execution is slow.

    Return None if the rule has no such limit, or if `latest` has too few succeeded executions.
    """
    if rule.slower is None or latest.p95 is None or latest.succeeded < rule.at_least:
        return None
    return rule.slower * latest.p95


def reason_to_stop(
    rule: StopRule, canary: SideFigures, latest: SideFigures, groups: Sequence[NewGroup]
) -> str | None:
    """Return a sentence with the reason why the canary must stop; None if it may continue."""
    return (
        _new_failure(rule, groups)
        or _too_many_failures(rule, canary)
        or _slow(rule, canary, latest)
    )


def may_promote(rule: StopRule | None, canary: SideFigures) -> bool:
    """Return whether enough executions have ended for an automatic promotion."""
    return canary.ended >= (1 if rule is None else rule.at_least)


def evidence(tried: int, bad: int, limit: float) -> float:
    """Return the logarithm of the evidence that more than `limit` of the executions are bad.

    The evidence is the likelihood ratio against `limit`, averaged over all higher rates p with a
    uniform weight: with x of n bad and the limit q,

        M = integral from q to 1 of (p/q)**x * ((1-p)/(1-q))**(n-x) dp / (1-q)
          = B(x+1, n-x+1) * P(Binomial(n+1, q) <= x) / ((1-q) * q**x * (1-q)**(n-x)).

    At any rate up to the limit, M is a supermartingale that begins at 1. So the probability that it
    ever reaches 1/a is at most a, however often it is evaluated (Ville's inequality). Source: H.
    Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of
    Mathematical Statistics 41 (1970); J. Ville, "Étude critique de la notion de collectif" (1939).
    """
    good = tried - bad
    beta = math.lgamma(bad + 1) + math.lgamma(good + 1) - math.lgamma(tried + 2)
    at_limit = bad * math.log(limit) + (good + 1) * math.log1p(-limit)
    return beta + _log_at_most(bad, tried + 1, limit) - at_limit


def _log_at_most(most: int, tried: int, rate: float) -> float:
    """Return the logarithm of the probability that at most `most` of `tried` executions are bad.

    `rate` is the probability that one execution is bad.
    """
    terms = [
        math.lgamma(tried + 1)
        - math.lgamma(k + 1)
        - math.lgamma(tried - k + 1)
        + k * math.log(rate)
        + (tried - k) * math.log1p(-rate)
        for k in range(most + 1)
    ]
    largest = max(terms)
    return largest + math.log(sum(math.exp(term - largest) for term in terms))


def _is_clear(tried: int, bad: int, limit: float) -> bool:
    """Return whether it is clear that the true share of bad executions exceeds `limit`.

    The probability that True is wrong is at most `ERROR_RATE`.
    """
    if not 0 < limit < 1 or bad <= limit * tried:
        return False
    return evidence(tried, bad, limit) >= -math.log(ERROR_RATE)


def _too_many_failures(rule: StopRule, canary: SideFigures) -> str | None:
    if rule.failure_rate is None:
        return None
    if canary.ended >= rule.at_least:
        rate = canary.failure_rate or 0.0
        exceeds = rate > rule.failure_rate
    else:
        # Running executions count as good, because failures may come earlier than successes.
        exceeds = _is_clear(canary.started, canary.failed, rule.failure_rate / 100)
    if not exceeds:
        return None
    return (
        f"{canary.failed} of {canary.ended} ended executions failed; "
        f"the limit is {rule.failure_rate:g} %."
    )


def _slow(rule: StopRule, canary: SideFigures, latest: SideFigures) -> str | None:
    limit = slow_limit(rule, latest)
    if limit is None:
        return None
    if canary.succeeded >= rule.at_least:
        exceeds = canary.p95 is not None and canary.p95 > limit
    else:
        exceeds = _is_clear(canary.started, canary.slow, BEYOND_P95)
    if not exceeds:
        return None
    return (
        f"{canary.slow} of {canary.started} executions took longer than {limit:.3g} s, which is "
        f"{rule.slower:g} times the 95th percentile of the latest version."
    )


def _new_failure(rule: StopRule, groups: Sequence[NewGroup]) -> str | None:
    if rule.new_group is None:
        return None
    found = [group for group in groups if group.count >= rule.new_group]
    if not found:
        return None
    worst = max(found, key=lambda group: group.count)
    return (
        f"Dead letters in a failure group that only this version has: {worst.count} ({worst.name})."
    )
