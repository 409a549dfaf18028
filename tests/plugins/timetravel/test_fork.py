"""Tests of a new execution that begins in the middle of another."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from executions.errors import InvalidPayload, NotFound, WorkflowDisabled
from executions.models import Activity, Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.models import Run
from tests.support.auditor import audit
from tests.support.engine_database import engine_database
from tests.support.modules import marks
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
from valkyr_plugins.timetravel.fork import InvalidFork, Overrides, fork
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


DOCUMENT = {
    "variables": {"stage": "new", "limit": 1},
    "input": {"type": "object", "properties": {"name": {"type": "string"}}},
    "output": "{{ [tasks.last.output, vars.stage, vars.limit] }}",
    "tasks": [
        effect("one", value="{{ input.name }}"),
        task("note", "flow.set_variables", "one", **{"with": {"values": {"stage": "noted"}}}),
        effect("two", "note", value={"a": 1, "b": "{{ tasks.one.output }}"}),
        effect("last", "two", value="{{ tasks.two.output }}"),
    ],
}


def done(queue: World, document: dict[str, Any] = DOCUMENT) -> UUID:
    pk = start(publish(document), {"name": "ann"})
    queue.drain()
    assert states([pk])[pk] == "SUCCESS"
    return pk


def ended(queue: World, pk: UUID) -> WorkflowExecution:
    queue.drain()
    execution = WorkflowExecution.objects.get(pk=pk)
    assert execution.state == "SUCCESS", execution.error_message
    audit([pk])
    return execution


def ran(pk: UUID) -> list[str]:
    return [mark["step"] for mark in marks(pk)]


def test_a_fork_runs_from_a_step_on_with_what_came_before(queue: World) -> None:
    origin = done(queue)

    made = fork(origin, step_path="two.main", actor=ACTOR, reason="again")

    assert (made.origin_id, made.origin_point) == (origin, "before two.main")
    assert made.state == "RUNNING"
    assert made.context_data == {"stage": "noted", "limit": 1}
    execution = ended(queue, made.pk)
    assert execution.output == [{"a": 1, "b": "ann"}, "noted", 1]
    assert ran(made.pk) == ["two.main", "last.main"]


def test_the_copies_say_where_they_come_from(queue: World) -> None:
    origin = done(queue)
    made = fork(origin, step_path="two.main", actor=ACTOR)

    copies = Run.objects.filter(execution=made, state="SUCCESS").order_by("finished_at")

    assert [run.step_path for run in copies] == ["one.main", "note.main"]
    for run in copies:
        known = Run.objects.get(execution_id=origin, step_path=run.step_path)
        assert run.cached_from == known.pk
        assert (run.outputs, run.inputs, run.outcome) == (
            known.outputs,
            known.inputs,
            known.outcome,
        )
        assert run.idempotency_key == "", "nothing was done under a key of this execution"
        assert run.pk.version == 7


def test_inputs_variables_and_the_payload_may_be_changed(queue: World) -> None:
    origin = done(queue)

    made = fork(
        origin,
        step_path="two.main",
        actor=ACTOR,
        overrides=Overrides(
            input={"name": "bob"},
            variables={"limit": 7},
            steps={"two.main": {"value": {"b": None, "c": 3}}},
        ),
    )

    execution = ended(queue, made.pk)
    assert execution.trigger_payload == {"name": "bob"}
    assert execution.output == [{"a": 1, "c": 3}, "noted", 7]
    assert len(ran(made.pk)) == 2


def test_without_a_point_it_begins_at_the_beginning(queue: World) -> None:
    origin = done(queue)
    made = fork(origin, actor=ACTOR, overrides=Overrides(input={"name": "eve"}))
    assert made.origin_point == "start"
    execution = ended(queue, made.pk)
    assert execution.output[0]["b"] == "eve"
    assert len(ran(made.pk)) == 3


def test_a_dead_step_can_be_tried_with_other_inputs_elsewhere(queue: World) -> None:
    document = {"tasks": [effect("one"), effect("bad", "one", failTimes=9, errorType="PERMANENT")]}
    origin = start(publish(document))
    queue.drain()
    assert states([origin])[origin] == "FAILED"

    made = fork(
        origin,
        step_path="bad.main",
        actor=ACTOR,
        overrides=Overrides(steps={"bad.main": {"failTimes": 0}}),
    )

    ended(queue, made.pk)
    assert states([origin])[origin] == "FAILED", "the origin is left as it was"
    assert ran(made.pk) == ["bad.main"]


def test_from_a_checkpoint(queue: World) -> None:
    origin = done(queue)
    checkpoint = checkpoints.take_by_hand(origin, name="end", actor=ACTOR)
    Checkpoint.objects.filter(pk=checkpoint.pk).update(
        created_at=Run.objects.get(execution_id=origin, step_path="two.main").finished_at
    )

    made = fork(origin, checkpoint_id=checkpoint.pk, actor=ACTOR)

    assert made.origin_point == "checkpoint #1"
    ended(queue, made.pk)
    assert ran(made.pk) == ["last.main"]


def test_from_the_end_it_ends_at_once(queue: World) -> None:
    origin = done(queue)
    checkpoint = checkpoints.take_by_hand(origin, name="end", actor=ACTOR)
    made = fork(origin, checkpoint_id=checkpoint.pk, actor=ACTOR)
    assert made.state == "SUCCESS"
    assert ran(made.pk) == []


def test_a_fork_can_be_rolled_back_to_where_it_began_and_forked_again(queue: World) -> None:
    origin = done(queue)
    made = fork(
        origin, step_path="two.main", actor=ACTOR, overrides=Overrides(variables={"limit": 7})
    )
    first = Checkpoint.objects.get(execution=made)
    assert (first.sequence, first.variables) == (0, {"stage": "noted", "limit": 7})

    back = roll_back(made.pk, checkpoint_id=first.pk, actor=ACTOR)
    assert back.context_data == {"stage": "noted", "limit": 7}
    ended(queue, made.pk)
    second = fork(made.pk, step_path="last.main", actor=ACTOR)
    assert second.context_data == {"stage": "noted", "limit": 7}
    ended(queue, second.pk)
    assert ran(second.pk) == ["last.main"]


def test_in_a_full_workspace_it_waits_with_its_changes(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(DOCUMENT, workspace)
    origin = start(workflow, {"name": "ann"})
    queue.drain()
    blocker = start(workflow, {"name": "x"})

    made = fork(
        origin,
        step_path="two.main",
        actor=ACTOR,
        overrides=Overrides(steps={"two.main": {"value": "changed"}}),
    )

    assert made.state == "PENDING"
    queue.drain()
    assert states([blocker])[blocker] == "SUCCESS"
    execution = ended(queue, made.pk)
    assert execution.output[0] == "changed"
    assert ran(made.pk) == ["two.main", "last.main"]


def republished(origin: UUID, document: dict[str, Any]) -> Workflow:
    workflow = WorkflowExecution.objects.get(pk=origin).workflow
    versioning.update_workflow(
        workflow.pk,
        {"definition": {"schema": "valkyr/1", "name": "tested", **document}},
        actor=ACTOR,
        expected_revision=None,
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    return workflow


def test_with_the_latest_version_it_goes_on_by_the_new_definition(queue: World) -> None:
    origin = done(queue)
    tasks = [*DOCUMENT["tasks"], effect("extra", "last", value=1)]  # type: ignore[misc]
    republished(origin, DOCUMENT | {"tasks": tasks})

    pinned = fork(origin, step_path="last.main", actor=ACTOR)
    latest = fork(origin, step_path="last.main", version="latest", actor=ACTOR)
    second = fork(origin, step_path="last.main", version=2, actor=ACTOR)

    queue.drain()
    assert ran(pinned.pk) == ["last.main"]
    assert ran(latest.pk) == ran(second.pk) == ["last.main", "extra.main"]


def test_steps_that_the_chosen_version_lacks_are_all_named(queue: World) -> None:
    origin = done(queue)
    before = WorkflowExecution.objects.count()
    republished(origin, {"tasks": [effect("other"), effect("last", "other")]})

    with pytest.raises(InvalidFork) as raised:
        fork(origin, step_path="last.main", version="latest", actor=ACTOR)

    assert [problem.path for problem in raised.value.problems] == [
        "note.main",
        "one.main",
        "two.main",
    ]
    assert WorkflowExecution.objects.count() == before


@pytest.mark.parametrize(
    ("overrides", "error", "path"),
    [
        (Overrides(variables={"nope": 1}), InvalidFork, "overrides.variables.nope"),
        (Overrides(steps={"last.main": {}}), InvalidFork, "overrides.steps.last.main"),
        (Overrides(input={"name": 5}), InvalidPayload, "params.name"),
    ],
)
def test_overrides_that_do_not_fit_are_named(
    queue: World, overrides: Overrides, error: type[InvalidFork], path: str
) -> None:
    origin = done(queue)
    before = WorkflowExecution.objects.count()

    with pytest.raises(error) as raised:
        fork(origin, step_path="two.main", actor=ACTOR, overrides=overrides)

    assert [problem.path for problem in raised.value.problems] == [path]
    assert WorkflowExecution.objects.count() == before


def test_points_and_versions_that_do_not_exist_are_refused(queue: World) -> None:
    origin = done(queue)
    with pytest.raises(NoSuchPoint, match=r"two\.main"):
        fork(origin, step_path="nowhere.main", actor=ACTOR)
    with pytest.raises(NotFound):
        fork(origin, checkpoint_id=origin, actor=ACTOR)
    with pytest.raises(NotFound, match="version 9"):
        fork(origin, version=9, actor=ACTOR)
    workflows = Workflow.objects.filter(executions=origin)
    workflows.update(enabled=False)
    with pytest.raises(WorkflowDisabled, match="Enable it"):
        fork(origin, actor=ACTOR)
    workflows.update(enabled=False, archived_at=timezone.now())
    with pytest.raises(WorkflowDisabled, match="is archived"):
        fork(origin, actor=ACTOR)


def test_it_is_in_the_audit_trail_of_both(queue: World) -> None:
    origin = done(queue)
    made = fork(origin, step_path="two.main", actor=ACTOR, reason="why not")
    row = Activity.objects.get(object_id=origin, action="execution.fork")
    assert (row.reason, row.details["executionId"]) == ("why not", str(made.pk))
    assert Activity.objects.filter(object_id=made.pk, action="execution.start").exists()
