"""Seeds with the most faults; `make mutate` runs them, the suite does not."""

import pytest

from tests.simulation.world import Simulation


@pytest.mark.parametrize("seed", range(1, 13))
def test_a_harsh_world_ends_as_the_interpreter_says(simulation: Simulation, seed: int) -> None:
    outcome = simulation.run(seed, harsh=True)
    assert not outcome.problems, "\n".join(outcome.problems)
