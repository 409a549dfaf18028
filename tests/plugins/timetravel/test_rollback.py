"""Rolling back to a checkpoint or a finished step: rows, variables and the steps that run again."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest

from dlq.models import DeadLetterEntry
from executions import lifecycle
from executions.errors import NotFound, WrongState
from executions.models import Activity, WorkflowExecution
from runners.containers import child_executions
from runners.models import Run, Waiter
from runners.states import WaitKind
from runners.waits import wake_runs
from tests.support.auditor import audit
from tests.support.engine_database import engine_database
from tests.support.modules import marks
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World, configured, world
from tests.support.workflows import (
    ACTOR,
    effect,
    limited_workspace,
    publish,
    start,
    states,
    task,
)
from valkyr_plugins.timetravel import checkpoints
from valkyr_plugins.timetravel.models import Checkpoint
from valkyr_plugins.timetravel.restore_points import NoSuchPoint
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


def writes(name: str, after: Any = None, **values: Any) -> dict[str, Any]:
    return task(name, "flow.set_variables", after, **{"with": {"values": values}})


def execution_of(pk: UUID) -> WorkflowExecution:
    return WorkflowExecution.objects.get(pk=pk)


def present(pk: UUID) -> dict[str, str]:
    """Return the states of the steps that are not superseded."""
    runs = Run.objects.filter(execution_id=pk, superseded=False).order_by("attempt")
    return {run.step_path: run.state for run in runs}


def ran(pk: UUID, path: str) -> int:
    return sum(mark["step"] == path for mark in marks(pk))


CHAIN = {
    "variables": {"stage": "new", "seen": []},
    "output": "{{ vars.stage }}",
    "tasks": [
        effect("one"),
        writes("first", "one", stage="first"),
        effect("two", "first"),
        writes("second", "two", stage="second", seen=[1]),
        effect("bad", "second", failTimes=1, errorType="PERMANENT"),
        effect("last", "bad"),
    ],
}


def failed_chain(queue: World) -> UUID:
    pk = start(publish(CHAIN))
    queue.drain()
    assert states([pk])[pk] == "FAILED"
    return pk


def test_a_failed_execution_goes_on_from_right_after_a_step(queue: World) -> None:
    pk = failed_chain(queue)

    execution = roll_back(pk, step_path="one.main", actor=ACTOR, reason="wrong price")

    assert (execution.state, execution.epoch) == ("RUNNING", 1)
    assert execution.context_data == {"stage": "new", "seen": []}
    assert execution.error_message == ""
    assert present(pk) == {"one.main": "SUCCESS", "first.main": "PENDING"}
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    assert execution_of(pk).output == "second"
    assert (ran(pk, "one.main"), ran(pk, "two.main")) == (1, 2)
    audit([pk])


def test_the_variables_are_those_right_after_the_step(queue: World) -> None:
    pk = failed_chain(queue)
    expected = {
        "one.main": {"stage": "new", "seen": []},
        "first.main": {"stage": "first", "seen": []},
        "two.main": {"stage": "first", "seen": []},
        "second.main": {"stage": "second", "seen": [1]},
    }

    found = {
        path: roll_back(pk, step_path=path, actor=ACTOR).context_data for path in reversed(expected)
    }

    assert found == expected


def test_what_ran_after_the_point_stays_as_history(queue: World) -> None:
    pk = failed_chain(queue)
    before = {run.pk: run.state for run in Run.objects.filter(execution_id=pk)}

    roll_back(pk, step_path="two.main", actor=ACTOR)

    history = Run.objects.filter(execution_id=pk, superseded=True)
    assert {run.step_path for run in history} == {"second.main", "bad.main"}
    assert {run.epoch for run in history} == {0}
    assert {run.pk: run.state for run in Run.objects.filter(pk__in=before)} == before
    kept = Run.objects.filter(execution_id=pk, superseded=False).exclude(state="PENDING")
    assert {run.epoch for run in kept} == {1}


def test_the_dead_letters_of_what_is_history_are_closed(queue: World) -> None:
    pk = failed_chain(queue)

    roll_back(pk, step_path="one.main", actor=ACTOR)

    entry = DeadLetterEntry.objects.get(execution_id=pk)
    assert entry.resolution == "DISCARDED"
    assert "rolled back to one.main" in entry.notes
    assert entry.resolved_at
    assert entry.expires_at


def test_it_is_in_the_audit_trail(queue: World) -> None:
    pk = failed_chain(queue)

    roll_back(pk, step_path="one.main", actor=ACTOR, reason="wrong price")

    row = Activity.objects.get(object_id=pk, action="execution.rollback")
    assert (row.actor_name, row.reason) == ("tests", "wrong price")
    assert row.details["to"] == "one.main"
    assert row.details["superseded"] == 4


def test_a_step_that_runs_is_fenced_and_runs_again(queue: World) -> None:
    pk = start(publish({"tasks": [effect("one"), effect("two", "one"), effect("three", "two")]}))
    state, work = claimed(pk, "one.main")
    work = recorded((state, work))  # type: ignore[assignment]
    assert run_of(pk, "two.main").state == "RUNNING"

    roll_back(pk, step_path="one.main", actor=ACTOR)

    from runners.errors import LeaseLost

    with pytest.raises(LeaseLost):
        recorded((state, work))
    old = Run.objects.get(execution_id=pk, step_path="two.main", superseded=True)
    assert (old.state, old.lease_token, old.epoch) == ("CANCELLED", 2, 0)
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    assert present(pk) == dict.fromkeys(["one.main", "two.main", "three.main"], "SUCCESS")


def test_parallel_branches_keep_what_had_ended_by_then(queue: World) -> None:
    document = {
        "tasks": [
            effect("left"),
            effect("right"),
            effect("after", "right"),
            effect("join", after=["left", "after"], join="all"),
        ]
    }
    pk = start(publish(document))
    recorded(claimed(pk, "left.main"))
    held = claimed(pk, "right.main")
    work = recorded(held)
    assert work is not None

    roll_back(pk, step_path="left.main", actor=ACTOR)

    assert present(pk) == {"left.main": "SUCCESS", "right.main": "PENDING"}
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    assert (ran(pk, "left.main"), ran(pk, "right.main")) == (1, 2)


def test_a_step_whose_error_edge_was_taken_is_a_point(queue: World) -> None:
    document = {
        "tasks": [
            effect("bad", failTimes=9, errorType="PERMANENT"),
            effect("rescue"),
            effect("never"),
            effect("fatal", failTimes=1, errorType="PERMANENT"),
        ],
        "edges": [
            {"from": "bad", "to": "rescue", "on": "error"},
            {"from": "bad", "to": "never"},
            {"from": "rescue", "to": "fatal"},
        ],
    }
    pk = start(publish(document))
    queue.drain()
    assert states([pk])[pk] == "FAILED"

    roll_back(pk, step_path="bad.main", actor=ACTOR)
    queue.drain()

    assert states([pk])[pk] == "SUCCESS"
    assert present(pk)["never.main"] == "SKIPPED"
    assert (ran(pk, "bad.main"), ran(pk, "rescue.main")) == (1, 2)
    audit([pk])


def test_earlier_attempts_stay_with_the_step_that_is_kept(queue: World) -> None:
    retry = {"maxAttempts": 3, "baseSeconds": 0.1, "maxSeconds": 0.1}
    document = {
        "tasks": [
            effect("flaky", failTimes=2, retry=retry),
            effect("bad", "flaky", failTimes=1, errorType="PERMANENT"),
        ]
    }
    pk = start(publish(document))
    queue.drain_with_retries(pk)

    roll_back(pk, step_path="flaky.main", actor=ACTOR)

    runs = Run.objects.filter(execution_id=pk, step_path="flaky.main").order_by("attempt")
    assert [(r.state, r.superseded, r.epoch) for r in runs] == [
        ("FAILED", False, 1),
        ("FAILED", False, 1),
        ("SUCCESS", False, 1),
    ]
    queue.drain()
    assert execution_of(pk).metrics_snapshot["retries"] == 2


def test_back_to_a_checkpoint_by_hand(queue: World) -> None:
    pk = start(publish(CHAIN))
    held = claimed(pk, "one.main")
    work = recorded(held)
    assert work is not None
    checkpoint = checkpoints.take_by_hand(pk, name="before it all", actor=ACTOR)
    work = recorded((held[0], work))
    while work is not None:
        work = recorded((held[0], work))
    assert states([pk])[pk] == "FAILED"

    execution = roll_back(pk, checkpoint_id=checkpoint.pk, actor=ACTOR)

    assert execution.context_data == checkpoint.variables == {"stage": "new", "seen": []}
    assert present(pk) == {"one.main": "SUCCESS", "first.main": "PENDING"}
    checkpoint.refresh_from_db()
    assert checkpoint.epoch == 1, "it may be gone back to again"


def test_a_checkpoint_of_a_past_that_was_rolled_back_is_refused(queue: World) -> None:
    pk = failed_chain(queue)
    late = checkpoints.take_by_hand(pk, name="late", actor=ACTOR)
    roll_back(pk, step_path="one.main", actor=ACTOR)

    with pytest.raises(WrongState, match="from before a roll-back"):
        roll_back(pk, checkpoint_id=late.pk, actor=ACTOR)


def test_a_paused_execution_stays_paused_and_goes_on_when_resumed(queue: World) -> None:
    pk = start(publish({"tasks": [effect("one"), effect("two", "one")]}))
    held = claimed(pk, "one.main")
    lifecycle.pause(pk, actor=ACTOR)
    recorded(held)

    assert roll_back(pk, step_path="one.main", actor=ACTOR).state == "PAUSED"

    queue.drain()
    assert ran(pk, "two.main") == 0
    lifecycle.resume(pk, actor=ACTOR)
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"


@pytest.mark.parametrize("final", ["SUCCESS", "CANCELLED", "TIMEOUT"])
def test_what_is_over_cannot_be_rolled_back_but_forked(queue: World, final: str) -> None:
    pk = start(publish({"tasks": [effect("one"), effect("two", "one")]}))
    if final == "SUCCESS":
        queue.drain()
    elif final == "CANCELLED":
        lifecycle.cancel(pk, actor=ACTOR)
    else:
        lifecycle.time_out(pk)

    with pytest.raises(WrongState, match="Fork it") as raised:
        roll_back(pk, step_path="one.main", actor=ACTOR)

    assert raised.value.state == final
    assert execution_of(pk).epoch == 0


def test_a_step_that_has_not_ended_is_no_point(queue: World) -> None:
    pk = failed_chain(queue)

    with pytest.raises(NoSuchPoint, match=r"second\.main"):
        roll_back(pk, step_path="bad.main", actor=ACTOR)
    with pytest.raises(NoSuchPoint):
        roll_back(pk, step_path="nowhere.main", actor=ACTOR)
    with pytest.raises(NotFound):
        roll_back(pk, checkpoint_id=pk, actor=ACTOR)

    execution = execution_of(pk)
    assert (execution.state, execution.epoch) == ("FAILED", 0), "nothing was half done"
    assert DeadLetterEntry.objects.get(execution_id=pk).resolution == "PENDING"


def test_in_a_full_workspace_it_waits_for_its_turn(queue: World) -> None:
    workspace = limited_workspace(1)
    pk = start(publish(CHAIN, workspace))
    queue.drain()
    other = start(publish({"tasks": [effect("one")]}, workspace))

    assert roll_back(pk, step_path="one.main", actor=ACTOR).state == "PENDING"

    queue.drain()
    assert states([pk, other]) == {pk: "SUCCESS", other: "SUCCESS"}
    assert ran(pk, "one.main") == 1


def test_it_can_go_back_again_and_again(queue: World) -> None:
    pk = failed_chain(queue)
    for epoch in (1, 2, 3):
        assert roll_back(pk, step_path="one.main", actor=ACTOR).epoch == epoch
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    audit([pk])


def test_checkpoints_agree_with_what_the_writing_steps_wrote(queue: World) -> None:
    from valkyr_plugins.timetravel import restore_points

    pk = start(publish(CHAIN))
    held = claimed(pk, "one.main")
    work = recorded(held)
    taken = []
    while work is not None:
        taken.append(checkpoints.take_by_hand(pk, name="", actor=ACTOR))
        work = recorded((held[0], work))
    assert len(taken) > 2

    Checkpoint.objects.filter(execution_id=pk).delete()

    execution = execution_of(pk)
    for checkpoint in taken:
        point = restore_points.Point(checkpoint.created_at, "")
        assert restore_points.variables_at(execution, point) == checkpoint.variables


ASKING = {
    "settings": {"checkpoint": {"enabled": False}},
    "tasks": [
        effect("one"),
        task("ask", "flow.approval", "one", **{"with": {"title": "Well?"}}),
        effect("two", "ask:approved"),
    ],
}


def test_who_waits_is_asked_anew(queue: World) -> None:
    pk = start(publish(ASKING))
    queue.drain()
    old = run_of(pk, "ask.main")
    assert old.state == "WAITING"
    assert Waiter.objects.filter(run=old).exists()

    roll_back(pk, step_path="one.main", actor=ACTOR)

    decided = {"by": "person", "decision": "approved", "comment": "", "actor": "me", "at": ""}
    assert not Waiter.objects.filter(execution_id=pk).exists()
    assert not wake_runs.wake(old.pk, WaitKind.APPROVAL, decided)
    queue.drain()
    new = Run.objects.get(execution_id=pk, step_path="ask.main", superseded=False)
    assert (new.state, new.pk == old.pk) == ("WAITING", False)
    assert Waiter.objects.filter(execution_id=pk).count() == 1
    assert wake_runs.wake(new.pk, WaitKind.APPROVAL, decided)
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"


def test_a_sleeper_takes_a_place_again_before_it_goes_on(queue: World) -> None:
    workspace = limited_workspace(1)
    pk = start(publish(ASKING, workspace))
    queue.drain()
    assert execution_of(pk).place == "FREE"
    other = start(publish({"tasks": [effect("one")]}, workspace))
    assert states([other])[other] == "RUNNING"

    back = roll_back(pk, step_path="one.main", actor=ACTOR)

    assert (back.state, back.place) == ("RUNNING", "WANTED")
    assert present(pk)["ask.main"] == "PENDING"
    queue.drain()
    assert states([other])[other] == "SUCCESS"
    assert present(pk)["ask.main"] == "WAITING"
    assert execution_of(pk).place == "FREE"


def test_the_children_of_undone_steps_are_cancelled(queue: World) -> None:
    child = publish({"tasks": [task("ask", "flow.approval", **{"with": {"title": "Well?"}})]})
    document = {
        "tasks": [
            effect("one"),
            task("call", "flow.subworkflow", "one", **{"with": {"workflow": child.slug}}),
        ]
    }
    pk = start(publish(document))
    queue.drain()
    first = WorkflowExecution.objects.get(parent_id=pk)
    assert first.state == "RUNNING"

    roll_back(pk, step_path="one.main", actor=ACTOR)
    queue.drain()
    child_executions.cancel_of(pk)

    first.refresh_from_db()
    assert first.state == "CANCELLED"
    assert WorkflowExecution.objects.filter(parent_id=pk, state="RUNNING").count() == 1
