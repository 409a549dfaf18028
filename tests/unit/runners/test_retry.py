"""Delays follow the named policies and the server's Retry-After."""

from datetime import UTC, datetime

import pytest

from executions.definition.graph.model import RetryPolicy
from runners.failures.retry import delay, parse_retry_after

# docs/how-to/workflows.md, "When a step fails".
STANDARD = RetryPolicy("standard", 3, 1.0, None, (0.0, 0.5), 0.0)
LLM = RetryPolicy("llm", 4, 1.0, 60.0, (0.0, 0.0), 0.1)
PATIENT = RetryPolicy("patient", 10, 2.0, 300.0, (0.0, 3.0), 0.0)
NONE = RetryPolicy("none", 1, 1.0, None, (0.0, 0.0), 0.0)

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("policy", "attempt", "random", "seconds"),
    [
        (STANDARD, 1, 0.0, 1.0),
        (STANDARD, 1, 1.0, 1.5),
        (STANDARD, 2, 0.5, 2.25),
        (STANDARD, 3, 0.5, None),
        (LLM, 1, 0.5, 1.0),
        (LLM, 2, 0.0, 1.8),
        (LLM, 3, 1.0, 4.4),
        (LLM, 4, 0.5, None),
        (PATIENT, 1, 1.0, 5.0),
        (PATIENT, 7, 1.0, 131.0),
        (PATIENT, 8, 1.0, 259.0),
        (PATIENT, 9, 0.0, 300.0),
        (PATIENT, 10, 0.0, None),
        (NONE, 1, 0.5, None),
    ],
)
def test_delays_are_those_of_the_named_policies(policy, attempt, random, seconds):
    assert delay(policy, attempt, random=random) == pytest.approx(seconds)


def test_a_longer_wish_of_the_server_counts_even_over_the_cap():
    assert delay(PATIENT, 1, random=0.0, retry_after=900) == 900


def test_a_shorter_wish_of_the_server_does_not_hurry_the_policy():
    assert delay(STANDARD, 2, random=0.0, retry_after=0) == 2.0


def test_no_wish_of_a_server_adds_an_attempt():
    assert delay(STANDARD, 3, random=0.0, retry_after=5) is None


@pytest.mark.parametrize("wish", [1e9, float("inf")])
def test_nothing_waits_for_more_than_a_day(wish):
    assert delay(STANDARD, 1, random=0.0, retry_after=wish) == 86_400


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Fri, 20 Nov 2026 12:01:30 GMT", 90.0),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0.0),
        ("Friday, 20-Nov-26 12:00:10 GMT", 10.0),
        ("Fri Nov 20 12:00:10 2026", 10.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
        ("٣", None),
        ("9" * 5000, 9_999_999_999.0),
        ("Fri, 99 Nov 2026 12:00:00 GMT", None),
    ],
)
def test_both_forms_of_retry_after_are_read(header, seconds):
    assert parse_retry_after(header, NOW) == seconds
