"""The real graphs on real workers, with failures and retries."""

from random import Random

from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.real_graphs import NAMES, real_graph
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
