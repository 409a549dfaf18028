"""The real graphs on real workers, with failures and retries; alone, and as bodies."""

from random import Random
from typing import Any
from uuid import UUID

import pytest

from executions.models import WorkflowExecution
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.graphs import Drawn
from tests.support.interpreter import agrees
from tests.support.real_graphs import NAMES, real_graph, repeated
from tests.support.workflows import publish, start, wait_for_end

# Items of a map multiply a graph by twenty: the small ones have effects, the others are pure.
SMALL = ("blast-small", "epigenomics-hep-1seq", "srasearch-10a")


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


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", NAMES)
def test_a_real_graph_is_run_for_each_of_twenty_items(fleet: Fleet, name: str) -> None:
    config = {"items": list(range(20)), "maxConcurrency": 5}
    more = _failing(Random(name), "index") if name in SMALL else {}
    _run(repeated(name, "flow.map", config, **more))


@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", NAMES)
def test_a_real_graph_is_run_three_times_over(fleet: Fleet, name: str) -> None:
    _run(repeated(name, "flow.loop", {"count": 3}, **_failing(Random(name), "loop.index")))


def _failing(rng: Random, counter: str) -> dict[str, Any]:
    """Effects of which some fail once or twice, in some places."""

    def fails(number: int) -> dict[str, Any]:
        times = [rng.choice([0] * 12 + [1, 2]) for _ in range(3)]
        return {"failTimes": f"{{{{ {times}[{counter} % 3] }}}}"}

    return {
        "use": "test.effect",
        "with": fails,
        "retry": lambda number: {"maxAttempts": 3, "baseSeconds": 0.1},
        "queue": lambda number: rng.choice(["default", "default", "io"]),
    }


def _run(document: dict[str, Any]) -> None:
    """Right state, right order, and the results that the interpreter works out."""
    workflow = publish(document)
    execution: UUID = start(workflow)
    assert wait_for_end([execution], 100)[execution] == "SUCCESS"
    audit([execution])
    made = WorkflowExecution.objects.select_related("version").get(pk=execution)
    assert agrees(Drawn(made.version.definition).story().outputs["again.main"], made.output)
