"""A worker runs a batch of a pure map's items in memory while others plan from the rows."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest

from executions import lifecycle
from executions.models import WorkflowExecution
from runners.errors import StepFailed
from runners.models import Run
from runners.pipeline import receive
from runners.planning import plan_execution
from runners.recovery.sweeper import leases
from tests.support.auditor import audit
from tests.support.engine_database import engine_database
from tests.support.segments import Held, claimed, lease_runs_out, recorded
from tests.support.single_thread import World, configured, world
from tests.support.workflows import ACTOR, effect, publish, start, states, task


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


def pure_map(value: str, **more: Any) -> dict[str, Any]:
    """Return a workflow with a map of forty items, whose body renders `value` for each item."""
    body = {"tasks": [{"id": "double", "use": "flow.noop", "with": {"value": value}}]}
    config = {"items": list(range(40)), "maxConcurrency": 1, **more}
    return {
        "tasks": [{"id": "batch", "use": "flow.map", "with": config, "body": body}],
        "output": "{{ tasks.batch.output }}",
    }


def carry_in_memory(quiet: World) -> None:
    """Continue until a worker has ended items of a batch that no other process knows."""
    for _ in range(500):
        for worker in quiet.workers:
            if worker.state.ended_turns and worker.unit is not None:
                return
        quiet.turn()
    raise AssertionError("nobody took a batch along")


@pytest.mark.parametrize("steps", [2, 5, 256])
def test_items_put_aside_while_a_worker_had_them_in_memory_run_once(
    engine: None, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = begun(quiet, steps)
        with configured(batch_steps=steps):
            plan_execution.advance(execution)
            quiet.drain()
    made = WorkflowExecution.objects.get(pk=execution)
    assert made.state == "SUCCESS"
    assert made.output == [2 * item for item in range(40)]
    audit([execution])


@pytest.mark.parametrize(
    ("seed", "steps", "turns"), [(1, 2, 4), (5, 9, 2), (7, 5, 1), (8, 2, 2), (9, 5, 4), (13, 5, 2)]
)
def test_items_put_aside_go_on_though_their_worker_died_after_it_began_them(
    engine: None, monkeypatch: pytest.MonkeyPatch, seed: int, steps: int, turns: int
) -> None:
    with world(Random(seed), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = begun(quiet, steps)
        with configured(batch_steps=steps):
            plan_execution.advance(execution)
            for _ in range(turns):
                quiet.turn()
            quiet.workers.clear()
            quiet.queue.clear()
            quiet.run(execution)
    made = WorkflowExecution.objects.get(pk=execution)
    assert (made.state, made.error_message) == ("SUCCESS", "")
    assert made.output == [2 * item for item in range(40)]
    audit([execution])


def begun(quiet: World, steps: int) -> UUID:
    """Start an execution of which a worker has a batch in memory."""
    with configured(batch_steps=steps):
        execution = start(publish(pure_map("{{ item * 2 }}")))
        carry_in_memory(quiet)
    return execution


def test_no_item_of_a_batch_follows_one_that_died(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(pure_map("{{ [1, 2, 3][item] }}")))
        quiet.drain()
    assert states([execution])[execution] == "FAILED"
    audit([execution])


def minded(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with an error edge that handles the map's failure."""
    edges = [{"from": "batch", "to": "mend", "on": "error"}]
    tasks = [*document["tasks"], {"id": "mend", "use": "flow.noop"}]
    return {"tasks": tasks, "edges": edges}


def taken_along(execution: UUID, index: int) -> Held:
    """Return the work of a worker that ended this item and took a batch, of which it has begun the
    first item.
    """
    state, work = claimed(execution, f"batch[{index}].double.main")
    recorded((state, work))
    assert state.next_segment is not None
    taken = receive.claim_segment(execution, state.context.version.id, state.next_segment)
    assert taken is not None
    state, following = taken
    assert following is not None
    return state, following


def test_items_that_a_worker_took_along_do_not_begin_once_another_failed(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = minded(pure_map("{{ [1, 2, 3][index % 4] }}", maxConcurrency=2))
    quiet_world = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet_world as quiet, configured(batch_steps=1):
        execution = start(publish(document))
        opening, work = claimed(execution, "batch.main")
        opening.stays = False
        recorded((opening, work))
        (state, dying), failing = taken_along(execution, 0), taken_along(execution, 1)
        recorded(failing)
        lease_runs_out(dying.run_id)
        leases.expired_leases()
        quiet.drain()
    assert state.place.index == 2, state.batch
    paths = Run.objects.filter(execution_id=execution, step_path__startswith="batch[")
    ran = dict(paths.values_list("step_path", "state"))
    assert ran == {
        **{f"batch[{index}].double.main": "SUCCESS" for index in (0, 1, 2)},
        f"batch[{failing[0].place.index}].double.main": "FAILED",
    }
    audit([execution])


def test_a_map_tells_of_the_failure_that_no_edge_took(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {
        "tasks": [
            task("taken", "flow.fail", **{"with": {"message": "one that an edge took"}}),
            task("after"),
            task("left", "flow.fail", "after", **{"with": {"message": "one that none took"}}),
        ],
        "edges": [{"from": "taken", "to": "after", "on": "error"}],
    }
    document = minded(pure_map(""))
    document["tasks"][0]["body"] = body
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish(document))
        quiet.drain()
    failed = Run.objects.get(execution_id=execution, step_path="batch.main")
    assert "Step batch[0].left.main of item 0 failed: one that none took" in failed.error
    audit([execution])


def test_the_items_that_ended_before_one_that_died_are_counted_while_others_run(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = pure_map("{{ 6 / (3 - item) }}")
    document["tasks"].append(effect("beside"))
    with world(Random(0), monkeypatch, lose=0, double=0, die=0), configured(batch_steps=256):
        execution = start(publish(document))
        version = WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=execution)
        with pytest.raises(StepFailed, match="division by zero"):
            receive.run_segment(execution, version, "batch.main")
    counters = Run.objects.get(execution_id=execution, step_path="batch.main").progress
    assert (counters["done"], counters["open"]) == (3, [3])
    assert states([execution])[execution] == "RUNNING"
    lifecycle.cancel(execution, actor=ACTOR)


def test_what_the_items_of_a_batch_skip_is_so_at_its_first_step(
    engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = pure_map("{{ item }}", items=[0, 1, 2])
    steps = [{"id": name, "use": "flow.noop", "with": {}} for name in ("one", "two")]
    rescue = {"id": "rescue", "after": "double:error", "modules": steps}
    document["tasks"][0]["body"]["tasks"].append(rescue)
    quiet_world = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet_world as quiet, configured(batch_steps=256):
        execution = start(publish(document))
        quiet.drain()
    paths = Run.objects.filter(execution_id=execution, step_path__contains="rescue")
    skipped = {f"batch[{index}].rescue.one": "SKIPPED" for index in range(3)}
    assert dict(paths.values_list("step_path", "state")) == skipped
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])
