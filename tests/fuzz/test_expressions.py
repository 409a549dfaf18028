"""No expression holds a web process for 100 ms, takes 256 MiB, or ends in anything but an error.

`make fuzz ARGS="-k expression --seconds 600"` tries others for ten minutes.
"""

import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.expression_grammar import expressions
from tests.fuzz.expression_watch import Watched
from tests.unit.templates.test_budget import HOSTILE

MOST_SECONDS = 0.1
MOST_KIB = 256 * 1024
USUAL = 400  # the same ones each time
ROUND = 2_000

pytestmark = [pytest.mark.timeout(3600), pytest.mark.quiet]


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    child = Watched()
    yield child
    child.end()


def wrong(watched: Watched, expression: str) -> str | None:
    """What is wrong with how an expression ends, if anything."""
    found = watched.tried(expression)
    if found["cpu"] > MOST_SECONDS:
        # The machine's other work counts a little: what is slow is slow twice.
        found["cpu"] = min(found["cpu"], watched.tried(expression)["cpu"])
    slow, large = found["cpu"] > MOST_SECONDS, found["kib"] > MOST_KIB
    if found["ended"] == "broke" or found["message"] == "LONG" or slow or large:
        return f"{expression}\n    {found}"
    return None


@pytest.mark.parametrize("expression", HOSTILE)
def test_a_known_hostile_expression_stays_within_time_and_memory(watched, expression):
    assert wrong(watched, expression) is None


def test_no_expression_made_at_random_passes_the_bounds(watched, request):
    seconds = request.config.getoption("--seconds", default=None)
    until = time.monotonic() + (seconds or 0)
    found: list[str] = []
    tried = 0

    def round_of(examples: int, number: int | None) -> None:
        @settings(
            max_examples=examples,
            phases=[Phase.generate],
            derandomize=number is None,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(expressions())
        def attempt(expression: str) -> None:
            nonlocal tried
            tried += 1
            problem = wrong(watched, expression)
            if problem is not None:
                found.append(problem)
                print(problem, flush=True)

        (attempt if number is None else seed(number)(attempt))()

    if seconds is None:
        round_of(USUAL, None)
    number = time.time_ns()
    while time.monotonic() < until and len(found) < 50:
        number += 1
        round_of(ROUND, number)
    print(f"{tried} expressions tried")
    assert not found, f"{len(found)} of {tried}:\n" + "\n".join(found)
