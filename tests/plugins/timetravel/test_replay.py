"""Tests of replay: run the same input again, or verify the same history without running steps."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest

from executions.errors import NotFound, WrongState
from executions.models import Activity, WorkflowExecution
from runners.models import Run
from tests.support.engine_database import engine_database
from tests.support.modules import marks
from tests.support.single_thread import World, configured, world
from tests.support.workflows import ACTOR, effect, publish, start, states, task
from valkyr_plugins.timetravel.fork import Overrides, fork, replay
from valkyr_plugins.timetravel.rollback import roll_back
from valkyr_plugins.timetravel.verification import Verification
from valkyr_plugins.timetravel.verify import verify


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Replace the broker; the test runs the workers."""
    quiet = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet as made, configured(stretch_steps=32, segment_steps=32):
        yield made


DOCUMENT: dict[str, Any] = {
    "variables": {"stage": "new", "count": 0},
    "output": "{{ [tasks.last.output, vars.stage, execution.startedAt] }}",
    "tasks": [
        effect("one", value="{{ [input.name, vars.stage, execution.id] }}"),
        task("note", "flow.set_variables", "one", **{"with": {"values": {"stage": "noted"}}}),
        effect(
            "two",
            "note",
            value="{{ vars.stage }}",
            retry={"maxAttempts": 2, "baseSeconds": 0.1, "maxSeconds": 0.1},
            failTimes=1,
        ),
        task("which", "flow.if", "two", **{"with": {"condition": "{{ vars.count > 0 }}"}}),
        effect("yes"),
        effect("no"),
        effect("last", value="{{ tasks.two.output }} {{ execution.attempt }}"),
    ],
    "edges": [
        {"from": "which", "to": "yes", "on": "true"},
        {"from": "which", "to": "no", "on": "false"},
        {"from": "yes", "to": "last"},
        {"from": "no", "to": "last"},
    ],
}
NESTED: dict[str, Any] = {
    "variables": {"total": 0},
    "output": "{{ [tasks.refine.output, vars.total] }}",
    "tasks": [
        effect("begin", value=[1, 2, 3]),
        task(
            "refine",
            "flow.loop",
            "begin",
            **{"with": {"until": "{{ vars.total >= 9 }}"}},
            body={
                "tasks": [
                    task(
                        "batch",
                        "flow.map",
                        **{"with": {"items": "{{ tasks.begin.output }}", "maxConcurrency": 2}},
                        body={
                            "tasks": [
                                effect("get", value="{{ [item, index, loop.index, vars.total] }}"),
                                task(
                                    "pass",
                                    after="get",
                                    **{"with": {"value": "{{ [item, loop.previous] }}"}},
                                ),
                            ]
                        },
                    ),
                    task(
                        "add",
                        "flow.set_variables",
                        "batch",
                        **{"with": {"values": {"total": "{{ vars.total + 3 }}"}}},
                    ),
                ]
            },
        ),
        effect("end", "refine", value="{{ tasks.refine.output.iterations }}"),
    ],
}


def done(queue: World, document: dict[str, Any], state: str = "SUCCESS") -> UUID:
    pk = start(publish(document), {"name": "ann"})
    queue.drain_with_retries(pk)
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == state, execution.error_message
    return pk


def told(found: Verification) -> set[tuple[str, str]]:
    return {(difference.step_path, difference.field) for difference in found.differences}


def test_a_replay_runs_the_same_input_again(queue: World) -> None:
    origin = done(queue, DOCUMENT)

    made = replay(origin, actor=ACTOR, reason="once more")

    assert made.origin_id == origin
    assert made.origin_point == ""
    assert made.trigger_payload == {"name": "ann"}
    queue.drain_with_retries(made.pk)
    assert states([made.pk])[made.pk] == "SUCCESS"
    steps = [mark["step"] for mark in marks(made.pk)]
    assert steps == ["one.main", "two.main", "two.main", "no.main", "last.main"]
    row = Activity.objects.get(object_id=origin, action="execution.replay")
    assert row.details["executionId"] == str(made.pk)


@pytest.mark.parametrize("document", [DOCUMENT, NESTED], ids=["flat", "nested"])
def test_replaying_with_recorded_results_comes_out_the_same(
    queue: World, document: dict[str, Any]
) -> None:
    pk = done(queue, document)
    before = len(marks(pk))

    found = verify(pk)

    assert found.differences == []
    assert found.same
    assert found.complete
    assert found.steps == Run.objects.filter(execution_id=pk).exclude(state="SKIPPED").count()
    assert len(marks(pk)) == before, "nothing was run"


def test_a_failed_and_a_cancelled_execution_come_out_the_same(queue: World) -> None:
    bad = {
        "tasks": [
            effect("one"),
            effect("bad", "one", failTimes=9, errorType="PERMANENT"),
            effect("never", "bad"),
        ]
    }
    assert verify(done(queue, bad, "FAILED")).same
    pk = start(publish(DOCUMENT), {"name": "ann"})
    queue.turn()
    queue.turn()
    from executions import lifecycle

    lifecycle.cancel(pk, actor=ACTOR)
    assert verify(pk).same


def test_so_do_rolled_back_and_forked_ones(queue: World) -> None:
    pk = done(
        queue,
        {
            "tasks": [*NESTED["tasks"], effect("bad", "end", failTimes=1, errorType="PERMANENT")],
            "variables": {"total": 0},
        },
        "FAILED",
    )
    roll_back(pk, step_path="refine[0].add.main", actor=ACTOR)
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    assert verify(pk).differences == []
    made = fork(
        pk,
        step_path="refine[1].batch[1].get.main",
        actor=ACTOR,
        overrides=Overrides(
            variables={"total": 5},
            steps={"refine[1].batch[1].get.main": {"value": "other"}},
        ),
    )
    queue.drain_with_retries(made.pk)
    found = verify(made.pk)
    assert found.differences == []
    assert 0 < found.steps < verify(pk).steps


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"inputs_hash": "0" * 64}, {("two.main", "inputsHash")}),
        ({"config_hash": "0" * 64}, {("two.main", "configHash")}),
        ({"idempotency_key": "0" * 64}, {("two.main", "idempotencyKey")}),
        (
            {"outputs": "tampered"},
            {
                ("last.main", "inputs.value"),
                ("last.main", "inputsHash"),
            },
        ),
        (
            {"state": "SKIPPED"},
            {
                ("two.main", "decision"),
                ("which.main", "decision"),
                ("last.main", "inputs.value"),
                ("last.main", "inputsHash"),
            },
        ),
    ],
    ids=["inputs", "config", "key", "result", "decision"],
)
def test_what_was_tampered_with_is_found(
    queue: World, change: dict[str, Any], expected: set[tuple[str, str]]
) -> None:
    pk = done(queue, DOCUMENT)
    Run.objects.filter(execution_id=pk, step_path="two.main", state="SUCCESS").update(**change)

    found = verify(pk)

    assert not found.same
    assert told(found) == expected


def test_other_variables_and_another_output_are_found(queue: World) -> None:
    pk = done(queue, DOCUMENT)
    WorkflowExecution.objects.filter(pk=pk).update(
        context_data={"stage": "x", "count": 0}, output=["x"]
    )
    found = {d.field: (d.recorded, d.replayed) for d in verify(pk).differences}
    assert found["variables.stage"] == ("x", "noted")
    assert found["output"][0] == ["x"]


def test_large_values_are_told_by_their_hash(queue: World) -> None:
    pk = done(queue, DOCUMENT)
    Run.objects.filter(execution_id=pk, step_path="two.main", state="SUCCESS").update(
        outputs="x" * 5_000
    )
    found = next(d for d in verify(pk).differences if d.field == "inputs.value")
    assert found.recorded == "noted 1"
    assert "SHA-256" in found.replayed


def test_only_what_is_over_can_be_verified(queue: World) -> None:
    pk = start(publish(DOCUMENT), {"name": "ann"})
    with pytest.raises(WrongState, match="RUNNING"):
        verify(pk)
    with pytest.raises(NotFound):
        verify(UUID(int=0))
    with pytest.raises(NotFound):
        replay(UUID(int=0), actor=ACTOR)
