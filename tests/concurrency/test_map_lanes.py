"""A pure map observes `maxConcurrency`, even if several workers have steps of one item."""

from itertools import pairwise
from random import Random

import pytest

from runners.models import Run
from tests.support.single_thread import configured, world
from tests.support.workflows import publish, start, states

BODY = {
    "tasks": [
        {"id": "near", "use": "flow.noop"},
        {"id": "far", "use": "flow.noop", "queue": "io"},
        {"id": "beside", "use": "flow.noop"},
    ],
    "edges": [],
}


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_item_begins_while_a_step_of_the_one_before_is_with_another_worker(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, batch: int
) -> None:
    given = {"items": list(range(8)), "maxConcurrency": 1}
    task = {"id": "each", "use": "flow.map", "with": given, "body": BODY}
    with (
        world(Random(seed), monkeypatch, lose=0, double=0, die=0) as quiet,
        configured(batch_steps=batch),
    ):
        execution = start(publish({"tasks": [task]}))
        quiet.drain_with_retries(execution)

    assert states([execution]) == {execution: "SUCCESS"}
    items = [
        list(Run.objects.filter(execution_id=execution, step_path__startswith=f"each[{index}]."))
        for index in range(8)
    ]
    for before, following in pairwise(items):
        ended = max(run.finished_at for run in before if run.finished_at)
        assert ended <= min(run.queued_at for run in following)
