"""Automatic checkpoints: their times, number and contents."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings

from executions.models import WorkflowExecution
from runners.models import Run
from runners.states import WaitKind
from runners.waits import wake_runs
from tests.support.engine_database import engine_database
from tests.support.segments import claimed, recorded
from tests.support.single_thread import World, configured, world
from tests.support.workflows import ACTOR, effect, publish, start, states, task
from valkyr_plugins.timetravel import checkpoints
from valkyr_plugins.timetravel.models import Checkpoint
from valkyr_plugins.timetravel.rollback import roll_back


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


def policy(**changed: Any) -> dict[str, Any]:
    off = {"enabled": True, "everySteps": 1000, "onLoop": False, "onGate": False, "keep": 10}
    return {"checkpoint": off | changed}


def done(queue: World, document: dict[str, Any]) -> UUID:
    pk = start(publish(document))
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == "SUCCESS", execution.error_message
    return pk


def taken(pk: UUID) -> list[tuple[int, str, dict[str, Any]]]:
    rows = Checkpoint.objects.filter(execution_id=pk).order_by("sequence")
    return [(row.sequence, row.step_path, row.variables) for row in rows]


def adding(name: str, after: Any = None) -> dict[str, Any]:
    values = {"total": "{{ vars.total + 1 }}"}
    return task(name, "flow.set_variables", after, **{"with": {"values": values}})


def looping(**changed: Any) -> dict[str, Any]:
    return {
        "settings": policy(**changed),
        "variables": {"total": 0},
        "tasks": [
            task(
                "refine",
                "flow.loop",
                **{"with": {"count": 3}},
                body={"tasks": [effect("draft"), adding("add", "draft")]},
            ),
            effect("end", "refine"),
        ],
    }


def test_one_before_a_loop_and_one_after_each_iteration(queue: World) -> None:
    pk = done(queue, looping(onLoop=True))

    assert taken(pk) == [
        (1, "refine.main", {"total": 0}),
        (2, "refine[0].add.main", {"total": 1}),
        (3, "refine[1].add.main", {"total": 2}),
        (4, "refine[2].add.main", {"total": 3}),
    ]


def test_only_the_newest_are_kept_beside_those_by_hand(queue: World) -> None:
    pk = start(publish(looping(onLoop=True, keep=2)))
    by_hand = checkpoints.take_by_hand(pk, name="mine", actor=ACTOR)
    queue.drain()

    assert [sequence for sequence, _, _ in taken(pk)] == [1, 4, 5]
    assert by_hand.sequence == 1


def test_none_where_they_are_switched_off(queue: World) -> None:
    pk = done(queue, looping(enabled=False, onLoop=True, onGate=True, everySteps=1))
    assert taken(pk) == []


@pytest.mark.parametrize(("every", "after"), [(1, [0, 1, 2, 3, 4, 5]), (3, [2, 5])])
def test_one_every_so_many_steps(queue: World, every: int, after: list[int]) -> None:
    names = [f"s{n}" for n in range(7)]
    tasks = [adding(names[0])] + [adding(name, before) for before, name in pairwise(names)]
    pk = done(
        queue,
        {"settings": policy(everySteps=every), "variables": {"total": 0}, "tasks": tasks},
    )

    assert [path for _, path, _ in taken(pk)] == [f"s{n}.main" for n in after]
    assert [variables["total"] for _, _, variables in taken(pk)] == [n + 1 for n in after]


def test_steps_that_are_recorded_without_the_lock_count(queue: World) -> None:
    tasks = [effect("a"), effect("b", "a"), adding("c", "b"), effect("end", "c")]
    pk = done(queue, {"settings": policy(everySteps=3), "variables": {"total": 0}, "tasks": tasks})
    assert [path for _, path, _ in taken(pk)] == ["c.main"]


def test_one_is_named_after_the_last_step_of_a_record(queue: World) -> None:
    tasks = [task("a"), task("b", after="a"), adding("c", "b"), effect("end", "c")]
    pk = done(queue, {"settings": policy(everySteps=3), "variables": {"total": 0}, "tasks": tasks})
    assert [path for _, path, _ in taken(pk)] == ["c.main"]


def test_one_after_the_last_step_of_a_branch_while_another_branch_runs(queue: World) -> None:
    tasks = [adding("a"), effect("b")]
    pk = start(
        publish({"settings": policy(everySteps=1), "variables": {"total": 0}, "tasks": tasks})
    )
    held = claimed(pk, "b.main")
    recorded(claimed(pk, "a.main"))
    assert [path for _, path, _ in taken(pk)] == ["a.main"]
    recorded(held)
    assert states([pk])[pk] == "SUCCESS"
    assert len(taken(pk)) == 1, "none at the end"


def test_one_after_somebody_decided(queue: World) -> None:
    document = {
        "settings": policy(onGate=True),
        "tasks": [task("ask", "flow.approval", **{"with": {"title": "Well?"}}), effect("ship")],
        "edges": [{"from": "ask", "to": "ship", "on": "approved"}],
    }
    pk = start(publish(document))
    queue.drain()
    run = Run.objects.get(execution_id=pk, step_path="ask.main")
    assert run.state == "WAITING"
    decided = {"by": "person", "decision": "approved", "comment": "", "actor": "me", "at": ""}
    assert wake_runs.wake(run.pk, WaitKind.APPROVAL, decided)
    queue.drain()

    assert states([pk])[pk] == "SUCCESS"
    assert [path for _, path, _ in taken(pk)] == ["ask.main"]


def test_one_after_a_gate_with_the_next_step_that_takes_the_lock(queue: World) -> None:
    document = {
        "settings": policy(onGate=True),
        "variables": {"total": 0},
        "tasks": [
            effect("begin"),
            task("which", "flow.if", "begin", **{"with": {"condition": True}}),
            adding("add", "which:true"),
            effect("end", "add"),
        ],
    }
    pk = done(queue, document)
    assert [path for _, path, _ in taken(pk)] == ["add.main"]


def test_an_execution_can_go_back_to_each_of_them(queue: World) -> None:
    document = looping(onLoop=True)
    document["tasks"].append(effect("bad", "end", failTimes=1, errorType="PERMANENT"))
    pk = start(publish(document))
    queue.drain()
    assert states([pk])[pk] == "FAILED"

    for checkpoint in Checkpoint.objects.filter(execution_id=pk).order_by("-sequence"):
        execution = roll_back(pk, checkpoint_id=checkpoint.pk, actor=ACTOR)
        assert execution.context_data == checkpoint.variables
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=pk).context_data == {"total": 3}


def test_one_costs_one_statement(queue: World) -> None:
    pk = start(publish(looping(onLoop=True)))
    with CaptureQueriesContext(connection) as ours:
        checkpoints.take(pk, keep=3)
    # Hot statements bypass Django's log; any others would be in it.
    assert len(ours) == 0
    assert len(taken(pk)) == 1


def test_they_go_a_day_after_the_end_and_never_before(queue: World) -> None:
    old, fresh = done(queue, looping(onLoop=True)), done(queue, looping(onLoop=True))
    under_way = start(publish(looping(onLoop=True)))
    checkpoints.take_by_hand(under_way, name="kept", actor=ACTOR)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE executions_checkpoint SET created_at = created_at - interval '2 d'")
        cursor.execute(
            "UPDATE executions_workflowexecution SET finished_at = finished_at - interval '25 h' "
            "WHERE id = %s",
            [old],
        )

    with override_settings(VALKYR={**settings.VALKYR, "CHECKPOINT_RETENTION_HOURS": 0}):
        assert checkpoints.expire() == 0
    assert checkpoints.expire() == 4

    assert [len(taken(pk)) for pk in (old, fresh, under_way)] == [0, 4, 1]
    assert checkpoints.expire() == 0
