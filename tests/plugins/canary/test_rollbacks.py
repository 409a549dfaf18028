"""Executions on a withdrawn version are left, cancelled, or continued on the good version."""

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from dlq.models import DeadLetterEntry
from executions.models import Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.models import Run
from tests.support.engine_database import engine_database
from tests.support.single_thread import World, configured, world
from tests.support.workflows import ACTOR, effect, publish, start, states, task
from valkyr_plugins.canary import settling
from valkyr_plugins.canary.models import Treatment, VersionRollback

GOOD = {"tasks": [effect("one", value="1"), effect("two", "one", value="2")]}
BROKEN = {
    "tasks": [
        effect("one", value="1"),
        effect("two", "one", failTimes=99, errorType="PERMANENT"),
    ]
}


ASKS = {
    "tasks": [
        effect("one", value="1"),
        task("two", "flow.approval", "one", **{"with": {"title": "Go on?"}}),
    ]
}


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def queue(engine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Yield a stand-in for the broker; the test runs the workers."""
    quiet = world(Random(0), monkeypatch, lose=0, double=0, die=0)
    with quiet as made, configured(stretch_steps=32, segment_steps=32):
        yield made


def then_published(bad: dict[str, Any]) -> Workflow:
    made = publish(GOOD)
    versioning.update_workflow(
        made.pk, {"definition": made.definition | bad}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(made.pk, actor=ACTOR)
    made.refresh_from_db()
    return made


def settled(made: VersionRollback, queue: World) -> None:
    """Settle the rollback's executions, as if the time for the last starts had passed."""
    past = made.created_at - settling.GRACE
    VersionRollback.objects.filter(pk=made.pk).update(created_at=past)
    settling.settle()
    queue.drain()
    made.refresh_from_db()


def settle(workflow: Workflow, treatment: Treatment, queue: World) -> VersionRollback:
    made = settling.roll_back(workflow.pk, actor=ACTOR, treatment=treatment, reason="bad")
    settled(made, queue)
    assert made.finished_at is not None
    return made


def test_failed_executions_go_on_on_the_good_version(queue: World) -> None:
    workflow = then_published(BROKEN)
    failed = start(workflow)
    queue.drain()
    assert states([failed])[failed] == "FAILED"

    done = settle(workflow, Treatment.FORK, queue)

    assert (done.forked, done.failed, done.refused) == (1, 0, [])
    fork = WorkflowExecution.objects.get(origin=failed)
    assert (fork.state, fork.version.number) == ("SUCCESS", 1)
    # The first step is not repeated: the fork begins with the one that failed.
    copied = Run.objects.get(execution=fork, step_path="one.main")
    assert copied.outputs == Run.objects.get(execution=failed, step_path="one.main").outputs
    assert set(DeadLetterEntry.objects.filter(execution=failed).values_list(
        "resolution", flat=True)) == {"DISCARDED"}  # fmt: skip


def test_left_executions_stay_as_they_are(queue: World) -> None:
    workflow = then_published(BROKEN)
    failed = start(workflow)
    queue.drain()

    done = settle(workflow, Treatment.LEAVE, queue)

    assert (done.forked, done.cancelled) == (0, 0)
    assert not WorkflowExecution.objects.filter(origin=failed).exists()


def test_a_withdrawn_version_can_be_settled_later(queue: World) -> None:
    workflow = then_published(BROKEN)
    failed = start(workflow)
    queue.drain()
    settle(workflow, Treatment.LEAVE, queue)

    later = settling.roll_back(workflow.pk, actor=ACTOR, number=2, treatment=Treatment.FORK)
    settled(later, queue)

    assert (later.switched, later.forked) == (False, 1)
    assert WorkflowExecution.objects.get(origin=failed).state == "SUCCESS"


def test_executions_under_way_are_cancelled(queue: World) -> None:
    workflow = then_published(ASKS)
    waiting, ended = start(workflow), start(workflow, version=1)
    queue.drain()
    assert states([waiting, ended]) == {waiting: "RUNNING", ended: "SUCCESS"}

    done = settle(workflow, Treatment.CANCEL, queue)

    assert (done.cancelled, done.failed) == (1, 0)
    assert states([waiting, ended]) == {waiting: "CANCELLED", ended: "SUCCESS"}


def test_executions_under_way_go_on_on_the_good_version(queue: World) -> None:
    workflow = then_published(ASKS)
    waiting = start(workflow)
    queue.drain()

    done = settle(workflow, Treatment.FORK, queue)

    assert (done.forked, done.failed) == (1, 0)
    assert states([waiting])[waiting] == "CANCELLED"
    fork = WorkflowExecution.objects.get(origin=waiting)
    assert (fork.state, fork.version.number) == ("SUCCESS", 1)


def test_a_rollback_waits_for_starts_that_read_the_workflow_before_it(queue: World) -> None:
    workflow = then_published(ASKS)
    made = settling.roll_back(workflow.pk, actor=ACTOR, treatment=Treatment.CANCEL)

    settling.settle()

    made.refresh_from_db()
    assert made.finished_at is None


def test_what_the_good_version_cannot_continue_is_left_with_the_reason(queue: World) -> None:
    workflow = then_published(
        {"tasks": [effect("other", value="1"), effect("two", "other", failTimes=99,
                                                      errorType="PERMANENT")]}
    )  # fmt: skip
    failed = start(workflow)
    queue.drain()

    done = settle(workflow, Treatment.FORK, queue)

    assert (done.forked, done.failed) == (0, 1)
    [refused] = done.refused
    assert refused["id"] == str(failed)
    assert "lacks 1 of the steps" in refused["reason"]
    assert DeadLetterEntry.objects.get(execution=failed).resolution == "PENDING"
