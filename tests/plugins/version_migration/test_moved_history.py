"""Tests of rolling back, forking and verifying executions that moved to another version."""

from typing import Any
from uuid import UUID

from runners.models import Run
from runners.repair.version_changes import move_execution
from runners.states import WaitKind
from runners.waits import wake_runs
from tests.support.single_thread import World
from tests.support.version_moves import begun, ended, move_of, outputs, versions
from tests.support.workflows import ACTOR, effect, task
from valkyr_plugins.timetravel import checkpoints
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.rollback import roll_back
from valkyr_plugins.timetravel.verify import verify

VARIABLES = {"variables": {"stage": "new"}}
NOTED = {"with": {"values": {"stage": "noted"}}}


def rest(name: str, after: str) -> dict[str, Any]:
    return task(name, "flow.delay", after, **{"with": {"seconds": 86_400}})


def wake(queue: World, execution: UUID, path: str) -> None:
    run = Run.objects.get(execution=execution, step_path=path, state="WAITING")
    assert wake_runs.wake(run.pk, WaitKind.TIMER, {"by": "timer"})
    queue.drain()


def test_a_checkpoint_from_before_the_move_has_the_new_variables(queue: World) -> None:
    old = [effect("one", value="1"), rest("pause", "one"), effect("last", "pause", value="old")]
    new = [*old[:2], effect("last", "pause", value="{{ vars.limit }}")]
    workflow = versions(old, new, both=VARIABLES, variables={"stage": "new", "limit": 9})
    execution = begun(workflow, queue)
    taken = checkpoints.take_by_hand(execution, name="before", actor=ACTOR)
    move_execution(execution, move_of(workflow), actor=ACTOR)

    found = roll_back(execution, checkpoint_id=taken.pk, actor=ACTOR)
    queue.drain()
    wake(queue, execution, "pause.main")

    assert found.context_data == {"stage": "new", "limit": 9}
    assert ended(execution).state == "SUCCESS"
    assert outputs(execution)["last.main"] == 9


def test_variables_of_steps_that_the_new_version_lacks_are_kept(queue: World) -> None:
    old = [
        task("note", "flow.set_variables", **NOTED),
        effect("one", "note", value="1"),
        rest("pause", "one"),
    ]
    new = [effect("one", value="1"), rest("pause", "one"), effect("last", "pause", value="2")]
    workflow = versions(old, new, both=VARIABLES)
    execution = begun(workflow, queue)
    move_execution(execution, move_of(workflow), actor=ACTOR)

    copied = fork(execution, step_path="pause.main", actor=ACTOR)
    found = roll_back(execution, step_path="one.main", actor=ACTOR)

    assert found.context_data == {"stage": "noted"}
    assert copied.context_data == {"stage": "noted"}


def test_a_renamed_step_is_a_point_under_its_new_name(queue: World) -> None:
    old = [effect("one", value="1"), rest("pause", "one"), effect("last", "pause", value="2")]
    new = [
        effect("first", value="1"), rest("pause", "first"), effect("last", "pause", value="2"),
    ]  # fmt: skip
    workflow = versions(old, new)
    execution = begun(workflow, queue)
    kept = outputs(execution)["one.main"]
    move_execution(execution, move_of(workflow, one="first"), actor=ACTOR)

    roll_back(execution, step_path="first.main", actor=ACTOR)
    queue.drain()
    wake(queue, execution, "pause.main")

    assert ended(execution).state == "SUCCESS"
    assert outputs(execution)["first.main"] == kept
    assert Run.objects.filter(execution=execution, step_path="pause.main").count() == 2


def test_a_move_without_changes_to_ended_steps_verifies_as_the_same(queue: World) -> None:
    old = [effect("one", value="1"), rest("pause", "one"), effect("last", "pause", value="old")]
    new = [*old[:2], effect("last", "pause", value="new")]
    workflow = versions(old, new)
    execution = begun(workflow, queue)
    move_execution(execution, move_of(workflow), actor=ACTOR)
    queue.drain()
    wake(queue, execution, "pause.main")
    assert ended(execution).state == "SUCCESS"

    assert verify(execution).differences == []


def test_verification_reports_ended_steps_that_the_new_version_changed(queue: World) -> None:
    old = [
        effect("one", value="1"), effect("two", "one", value="2"), effect("three", "two"),
        rest("pause", "three"),
    ]  # fmt: skip
    new = [
        effect("first", value="1"), effect("two", "first", value="changed"),
        rest("pause", "two"),
    ]  # fmt: skip
    workflow = versions(old, new)
    execution = begun(workflow, queue)
    move_execution(execution, move_of(workflow, one="first"), actor=ACTOR)
    queue.drain()
    wake(queue, execution, "pause.main")
    assert ended(execution).state == "SUCCESS"

    told = {(found.step_path, found.field) for found in verify(execution).differences}

    assert told == {
        ("first.main", "idempotencyKey"),  # of its old ID
        ("two.main", "inputs.value"), ("two.main", "inputsHash"), ("two.main", "configHash"),
        ("three.main", "step"),  # it does not exist
    }  # fmt: skip
