"""No expression blocks a web process for 100 ms, takes 256 MiB, or fails with an unexpected error.

In a worker, none blocks its process longer than its step's time.

`make fuzz ARGS="-k expression --seconds 600"` tries others for ten minutes.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.expression_grammar import expressions
from tests.fuzz.expression_watch import Watched
from tests.unit.templates.test_budget import HOSTILE

MOST_SECONDS = 0.1
MOST_KIB = 256 * 1024
# The time limit of the step whose inputs a worker renders. The clock is read between two
# operations; one takes at most 4,000,000 units (`budget.MOST_AT_ONCE`), a fifth of a second.
STEP_SECONDS = 0.5
OPERATION_SECONDS = 0.25
USUAL = 400  # the same ones each time
ROUND = 2_000

pytestmark = [pytest.mark.timeout(3600), pytest.mark.quiet]


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    child = Watched()
    yield child
    child.end()


def wrong(watched: Watched, expression: str, step: float | None = None) -> str | None:
    """Render an expression; return it with its report if it failed unexpectedly, was slow or used
    too much memory, otherwise None.
    """
    found = watched.tried(expression, step)
    if _slow(found, step):
        # The machine's other work counts a little: a slow expression is slow twice. A new child has
        # compiled nothing yet.
        watched.end()
        again = watched.tried(expression, step)
        found |= {key: min(found[key], again[key]) for key in ("cpu", "held")}
    large = found["kib"] > MOST_KIB
    if found["ended"] == "broke" or found["message"] == "LONG" or _slow(found, step) or large:
        return f"{expression}\n    {found}"
    return None


def _slow(found: dict[str, Any], step: float | None) -> bool:
    if step is None:
        return bool(found["cpu"] > MOST_SECONDS)
    return bool(found["held"] > step or found["cpu"] > step + OPERATION_SECONDS)


@pytest.mark.parametrize("step", [None, STEP_SECONDS])
@pytest.mark.parametrize("expression", HOSTILE)
def test_a_known_hostile_expression_stays_within_time_and_memory(watched, expression, step):
    assert wrong(watched, expression, step) is None


@pytest.mark.parametrize("step", [None, STEP_SECONDS])
def test_no_expression_made_at_random_passes_the_bounds(watched, request, step):
    seconds = request.config.getoption("--seconds", default=None)
    until = time.monotonic() + (seconds or 0)
    found: list[str] = []
    tried, where = 0, "a web process" if step is None else "a worker"

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
            if seconds and time.monotonic() > until:
                return
            tried += 1
            problem = wrong(watched, expression, step)
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
    print(f"{tried} expressions tried in {where}")
    assert not found, f"{len(found)} of {tried}:\n" + "\n".join(found)
