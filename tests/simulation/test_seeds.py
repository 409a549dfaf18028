"""A few seeds; `make simulate` runs a thousand."""

from unittest.mock import patch

import pytest

from tests.simulation import bugs, world
from tests.simulation.world import Simulation

SEEDS = (2, 4, 7, 9, 19)
WAITS = 14  # a seed in which a statement waits for a lock for 11 turns
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


def test_no_limit_of_wall_time_ends_a_statement_that_waits_for_its_turn(
    simulation: Simulation,
) -> None:
    actor, found = simulation.scheduler.actors[0], []

    def act() -> None:
        with actor.django.cursor() as cursor:
            for limit in ("statement_timeout", "lock_timeout"):
                cursor.execute(f"SHOW {limit}")
                found.extend(cursor.fetchone())

    actor.begin(act)
    simulation.scheduler.run(actor)
    assert found == ["0", "0"]


def test_a_lock_that_is_waited_for_too_many_turns_is_noticed(simulation: Simulation) -> None:
    with patch.object(world, "WAIT_TURNS", 5):
        problems = simulation.run(WAITS).problems
    assert problems == ["beat2 waited 11 turns for a lock"]


def test_a_claim_that_minds_no_pause_is_noticed(simulation: Simulation) -> None:
    with bugs.broken("claim-state"):
        noticed = next((n for n in MANY if simulation.run(n, harsh=True).problems), None)
    assert noticed is not None, f"none of {len(MANY)} seeds notices the claim without its guard"
    assert not simulation.run(noticed, harsh=True).problems
