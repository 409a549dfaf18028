"""The real graphs on real workers, as the body of a map: each runs once for every item."""

from random import Random

import pytest

from tests.support.fleet import Fleet
from tests.support.real_graphs import NAMES, SMALL, repeated
from tests.support.repeated_graphs import failing_here_and_there, run_to_its_end

# Items of a map multiply a graph: the small ones have effects, the others are pure. Three of eight
# items run at once, so slots are reused, and a map ends with fewer than it has.


@pytest.mark.parametrize("name", NAMES)
def test_a_real_graph_is_run_for_each_of_eight_items(fleet: Fleet, name: str) -> None:
    config = {"items": list(range(8)), "maxConcurrency": 3}
    more = failing_here_and_there(Random(name), "index") if name in SMALL else {}
    run_to_its_end(repeated(name, "flow.map", config, **more))
