"""The real graphs on real workers, with failures and retries; alone, and as a loop's body."""

from random import Random

import pytest

from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.real_graphs import NAMES, SMALL, real_graph, repeated
from tests.support.repeated_graphs import failing_here_and_there, run_to_its_end
from tests.support.workflows import publish, start, wait_for_end


def test_real_graphs_run_to_their_ends_with_random_failures_and_retries(fleet: Fleet) -> None:
    rng = Random(197)
    ids = [
        start(
            publish(
                real_graph(
                    name,
                    "test.effect",
                    **{"with": lambda number: {"failTimes": rng.choice([0] * 8 + [1, 2])}},
                    retry=lambda number: {"maxAttempts": 3, "baseSeconds": 0.1},
                    queue=lambda number: rng.choice(["default", "default", "io"]),
                )
            )
        )
        for name in NAMES
    ]
    assert set(wait_for_end(ids, 100).values()) == {"SUCCESS"}
    audit(ids)


# The others are a body too, of a map: test_real_graphs_of_items.py.
@pytest.mark.parametrize("name", SMALL)
def test_a_real_graph_is_run_three_times_over(fleet: Fleet, name: str) -> None:
    failing = failing_here_and_there(Random(name), "loop.index")
    run_to_its_end(repeated(name, "flow.loop", {"count": 3}, **failing))
