"""A few seeds; `make simulate` runs a thousand."""

import pytest

from tests.simulation import bugs
from tests.simulation.world import Simulation

SEEDS = (2, 4, 7, 9, 19)
MANY = range(1, 101)  # one in ten of the harshest worlds notices


@pytest.mark.parametrize("seed", SEEDS)
def test_every_execution_ends_as_the_interpreter_says_whoever_dies_at_whichever_statement(
    simulation: Simulation, seed: int
) -> None:
    outcome = simulation.run(seed)
    assert not outcome.problems, "\n".join(outcome.problems)


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_the_same_seed_takes_the_same_way_again(simulation: Simulation, seed: int) -> None:
    first, again = simulation.run(seed), simulation.run(seed)
    assert again.trace == first.trace


def test_a_claim_that_minds_no_pause_is_noticed(simulation: Simulation) -> None:
    with bugs.broken("claim-state"):
        noticed = next((n for n in MANY if simulation.run(n, harsh=True).problems), None)
    assert noticed is not None, f"none of {len(MANY)} seeds notices the claim without its guard"
    assert not simulation.run(noticed, harsh=True).problems
