"""A fork runs no step under an approval of its origin: the approval is requested again."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from executions.models import Membership, Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.containers.child_executions import wake_parent
from runners.models import Run
from runners.waits.approvals import decide
from runners.waits.events import signal
from tests.support.engine_database import engine_database
from tests.support.modules import marks
from tests.support.single_thread import World, configured, world
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    effect,
    publish,
    start,
    states,
    task,
)
from valkyr_plugins.timetravel import checkpoints
from valkyr_plugins.timetravel.fork import InvalidFork, Overrides, fork


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


def approval(name: str, after: Any = None) -> dict[str, Any]:
    return task(name, "flow.approval", after, **{"with": {"title": f"{name}?"}})


def approve(queue: World, pk: UUID, decision: str = "approved") -> list[str]:
    """Decide on every approval of an execution until none is left; return the requests."""
    asked = []
    settle(queue, pk)
    while run := waiting(pk).first():
        decide_on(run, decision)
        asked.append(run.step_path)
        settle(queue, pk)
    return asked


def settle(queue: World, pk: UUID) -> None:
    """Work until nothing runs, including in children; the test delivers their ends."""
    queue.drain()
    for child in WorkflowExecution.objects.filter(parent_id=pk).values_list("pk", flat=True):
        if wake_parent(child):
            queue.drain()


def decide_on(run: Run, decision: str = "approved") -> None:
    boss, _ = get_user_model().objects.get_or_create(username="boss")
    Membership.objects.get_or_create(
        user=boss, workspace=default_workspace(), defaults={"role": "ADMIN"}
    )
    decide(run.pk, decision, "", user=boss, actor=ACTOR)


def waiting(pk: UUID) -> Any:
    """Return the approvals for which an execution, or a child of it, waits."""
    rows = Run.objects.filter(state="WAITING", waits_for="approval").order_by("pk")
    return rows.filter(execution_id=pk) | rows.filter(execution__parent_id=pk)


def done(queue: World, document: dict[str, Any]) -> UUID:
    pk = start(publish(document))
    approve(queue, pk)
    assert states([pk])[pk] == "SUCCESS"
    return pk


def ran(pk: UUID) -> list[str]:
    return [mark["step"] for mark in marks(pk)]


CHAIN = {
    "tasks": [
        effect("before"),
        approval("first", "before"),
        effect("between", "first:approved"),
        approval("second", "between"),
        effect("pay", "second:approved"),
        effect("receipt", "pay"),
    ]
}


@pytest.mark.parametrize("step", ["receipt.main", "pay.main", "second.main", "between.main"])
def test_every_approval_before_the_step_is_asked_again(queue: World, step: str) -> None:
    origin = done(queue, CHAIN)

    made = fork(origin, step_path=step, actor=ACTOR)

    assert made.origin_point == "before first.main"
    queue.drain()
    assert ran(made.pk) == [], "nothing behind it runs before somebody decides"
    assert approve(queue, made.pk) == ["first.main", "second.main"]
    assert ran(made.pk) == ["between.main", "pay.main", "receipt.main"]
    assert states([made.pk])[made.pk] == "SUCCESS"


def test_a_checkpoint_behind_an_approval_leads_to_the_approval(queue: World) -> None:
    origin = start(publish(CHAIN))
    queue.drain()
    run = waiting(origin).get()
    decide_on(run)
    queue.drain()
    taken = checkpoints.take_by_hand(origin, name="approved once", actor=ACTOR)

    made = fork(origin, checkpoint_id=taken.pk, actor=ACTOR)

    assert made.origin_point == "before first.main"
    queue.drain()
    assert ran(made.pk) == []
    assert [run.step_path for run in waiting(made.pk)] == ["first.main"]


def test_a_step_before_the_approval_is_forked_from_as_ever(queue: World) -> None:
    origin = done(queue, CHAIN)
    made = fork(origin, step_path="before.main", actor=ACTOR)

    assert made.origin_point == "before before.main"
    assert approve(queue, made.pk) == ["first.main", "second.main"]
    assert ran(made.pk) == ["before.main", "between.main", "pay.main", "receipt.main"]


def test_an_approval_stays_given_where_nothing_more_runs_under_it(queue: World) -> None:
    go = task("go", "flow.wait_for_event", **{"with": {"event": "go"}})
    document = {
        "tasks": [approval("ask"), effect("pay", "ask:approved"), go, effect("tell", "go:success")],
    }
    origin = start(publish(document))
    approve(queue, origin)
    signal(WorkflowExecution.objects.get(pk=origin), "go", {}, actor=ACTOR)
    queue.drain()
    assert ran(origin) == ["pay.main", "tell.main"]

    made = fork(origin, step_path="tell.main", actor=ACTOR)

    assert made.origin_point == "before tell.main"
    queue.drain()
    assert ran(made.pk) == ["tell.main"], "it is not paid again"
    assert states([made.pk])[made.pk] == "SUCCESS"


def test_a_rejection_is_asked_again_too(queue: World) -> None:
    document = {"tasks": [approval("ask"), effect("refund", "ask:rejected")]}
    origin = start(publish(document))
    approve(queue, origin, "rejected")
    assert ran(origin) == ["refund.main"]

    made = fork(origin, step_path="refund.main", actor=ACTOR)

    queue.drain()
    assert ran(made.pk) == []
    assert [run.step_path for run in waiting(made.pk)] == ["ask.main"]


def test_a_fork_of_a_fork_asks_too(queue: World) -> None:
    origin = done(queue, CHAIN)
    first = fork(origin, step_path="pay.main", actor=ACTOR)
    approve(queue, first.pk)

    second = fork(first.pk, step_path="receipt.main", actor=ACTOR)

    assert second.origin_point == "before first.main"
    queue.drain()
    assert ran(second.pk) == []


def test_an_approval_in_a_child_is_asked_again(queue: World) -> None:
    child = publish({"tasks": [approval("ask")]})
    call = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    origin = done(queue, {"tasks": [call, effect("pay", "call"), effect("receipt", "pay")]})

    first = fork(origin, step_path="receipt.main", actor=ACTOR)

    assert first.origin_point == "before call.main"
    queue.drain()
    assert ran(first.pk) == []
    assert approve(queue, first.pk) == ["ask.main"]
    assert ran(first.pk) == ["pay.main", "receipt.main"]


def test_a_child_in_which_nobody_decided_is_not_called_again(queue: World) -> None:
    child = publish({"tasks": [task("only")]})
    call = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    origin = done(queue, {"tasks": [call, effect("pay", "call")]})

    made = fork(origin, step_path="pay.main", actor=ACTOR)

    assert made.origin_point == "before pay.main"
    queue.drain()
    assert not WorkflowExecution.objects.filter(parent=made).exists()


def test_a_copied_result_of_a_child_is_known_for_what_it_is(queue: World) -> None:
    child = publish({"tasks": [approval("ask")]})
    call = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    go = task("go", "flow.wait_for_event", **{"with": {"event": "go"}})
    tell = effect("tell", "go:success")
    workflow = publish({"tasks": [call, go, tell]})
    origin = start(workflow)
    approve(queue, origin)
    signal(WorkflowExecution.objects.get(pk=origin), "go", {}, actor=ACTOR)
    queue.drain()
    first = fork(origin, step_path="tell.main", actor=ACTOR)
    queue.drain()
    assert (first.origin_point, ran(first.pk)) == ("before tell.main", ["tell.main"])
    republish(workflow, {"tasks": [call, effect("pay", "call"), go, tell]})

    second = fork(first.pk, step_path="tell.main", version="latest", actor=ACTOR)

    assert second.origin_point == "before call.main"
    settle(queue, second.pk)
    assert "pay.main" not in ran(second.pk)
    assert [run.step_path for run in waiting(second.pk)] == ["ask.main"]


def test_approvals_in_the_turns_of_a_body_are_asked_again(queue: World) -> None:
    body = {"tasks": [approval("ask"), effect("note", "ask:approved")]}
    each = task("each", "flow.map", body=body, **{"with": {"items": [1, 2], "maxConcurrency": 1}})
    origin = done(queue, {"tasks": [each, effect("pay", "each")]})

    made = fork(origin, step_path="pay.main", actor=ACTOR)

    assert made.origin_point == "before each[0].ask.main"
    queue.drain()
    assert ran(made.pk) == []
    assert sorted(approve(queue, made.pk)) == ["each[0].ask.main", "each[1].ask.main"]
    assert sorted(ran(made.pk)) == ["each[0].note.main", "each[1].note.main", "pay.main"]


def test_a_step_that_became_an_approval_is_asked(queue: World) -> None:
    workflow = publish({"tasks": [task("check"), effect("pay", "check")]})
    origin = start(workflow)
    queue.drain()
    republish(workflow, {"tasks": [approval("check"), effect("pay", "check:approved")]})

    made = fork(origin, step_path="pay.main", version="latest", actor=ACTOR)

    queue.drain()
    assert ran(made.pk) == []
    assert [run.step_path for run in waiting(made.pk)] == ["check.main"]


def test_variables_are_as_they_were_before_the_approval(queue: World) -> None:
    document = {
        "variables": {"who": "nobody"},
        "tasks": [
            approval("ask"),
            task(
                "set",
                "flow.set_variables",
                "ask:approved",
                **{"with": {"values": {"who": "{{ vars.who }}!"}}},
            ),
            effect("pay", "set", value="{{ vars.who }}"),
        ],
    }
    origin = done(queue, document)

    made = fork(origin, step_path="pay.main", actor=ACTOR)

    assert made.context_data == {"who": "nobody"}
    approve(queue, made.pk)
    assert Run.objects.get(execution_id=made.pk, step_path="pay.main").inputs["value"] == "nobody!"


def test_nothing_is_left_of_a_fork_that_is_refused(queue: World) -> None:
    origin = done(queue, CHAIN)
    with pytest.raises(InvalidFork):
        fork(
            origin,
            step_path="pay.main",
            overrides=Overrides(steps={"pay.main": {"value": 2}}),
            actor=ACTOR,
        )
    assert not WorkflowExecution.objects.filter(origin_id=origin).exists()


def republish(workflow: Workflow, document: dict[str, Any]) -> None:
    versioning.update_workflow(
        workflow.pk,
        {"definition": {"schema": "valkyr/1", "name": "tested", **document}},
        actor=ACTOR,
        expected_revision=None,
    )
    versioning.publish(workflow.pk, actor=ACTOR)
