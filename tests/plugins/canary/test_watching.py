"""The check of a running canary stops or promotes it once, despite concurrent changes."""

from datetime import timedelta
from typing import Any

import pytest

from dlq.models import FailureGroup, GroupVersion
from executions.database.clock import database_now
from executions.errors import WrongState
from executions.models import Activity, Workflow, WorkflowExecution, Workspace
from executions.publishing import rollout, versioning
from tests.integration.test_publishing import at_once
from tests.support.workflows import ACTOR, publish, task
from valkyr_plugins.canary import lifecycle, watching
from valkyr_plugins.canary.lifecycle import CanaryWish
from valkyr_plugins.canary.models import Canary, CanaryState
from valkyr_plugins.canary.stop_rule import StopRule

RULE = StopRule(at_least=20, failure_rate=10)


def canary(**wish: Any) -> Canary:
    made = publish({"tasks": [task("a")]})
    changed = made.definition | {"tasks": [task("a"), task("b")]}
    versioning.update_workflow(
        made.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    asked = {"percent": 50.0, "rule": RULE} | wish
    return lifecycle.begin(made.pk, CanaryWish(**asked), actor=ACTOR)


def ended(of: Canary, state: str, number: int) -> None:
    """Create executions in the canary's share that ended in this state."""
    now = database_now()
    WorkflowExecution.objects.bulk_create(
        WorkflowExecution(
            workspace_id=of.workspace_id,
            workflow_id=of.workflow_id,
            version_id=of.version_id,
            canary=True,
            state=state,
            started_at=now,
            finished_at=now,
        )
        for _ in range(number)
    )


def failing_in(of: Canary, exception: str, counts: dict[int, int]) -> None:
    """Create a failure group with these counts by the number of the version."""
    now = database_now()
    group = FailureGroup.objects.create(
        workspace_id=of.workspace_id, workflow_id=of.workflow_id, rule=1, place="a",
        module="flow.noop", exception=exception, first_seen=now, last_seen=now,
    )  # fmt: skip
    for number, count in counts.items():
        GroupVersion.objects.create(
            group=group, number=number, count=count, first_seen=now, last_seen=now
        )


@pytest.mark.django_db
def test_a_failing_canary_is_stopped_and_its_figures_are_kept() -> None:
    made = canary()
    ended(made, "SUCCESS", 17)
    ended(made, "FAILED", 3)

    assert watching.watch() == 1

    made.refresh_from_db()
    assert made.state == CanaryState.STOPPED
    assert made.reason == "3 of 20 ended executions failed; the limit is 10 %."
    assert made.figures["canary"]["failure_rate"] == 15
    workflow = Workflow.objects.get(pk=made.workflow_id)
    assert workflow.canary_version_id is None
    assert workflow.latest_version_id == made.latest_id
    assert Activity.objects.get(action="canary.stop").actor_name == "canary rule"
    assert watching.lasting([made.pk]) == {made.pk}


@pytest.mark.django_db
def test_a_new_failure_group_stops_a_canary_despite_many_larger_known_groups() -> None:
    made = canary(rule=StopRule(at_least=20, new_group=3))
    for number in range(25):
        failing_in(made, f"known {number}", {made.latest.number: 1, made.version.number: 9})
    failing_in(made, "new", {made.version.number: 3})

    assert watching.watch() == 1

    made.refresh_from_db()
    expected = "Dead letters in a failure group that only this version has: 3 (a: new)."
    assert made.reason == expected
    assert "a: new" in {group["name"] for group in made.figures["groups"]}


@pytest.mark.django_db
def test_a_good_canary_goes_on_until_its_time() -> None:
    made = canary(promote_after=3_600)
    ended(made, "SUCCESS", 20)
    assert watching.watch() == 0
    Canary.objects.filter(pk=made.pk).update(promote_at=database_now() - timedelta(seconds=1))

    assert watching.watch() == 1

    made.refresh_from_db()
    assert made.state == CanaryState.PROMOTED
    assert Workflow.objects.get(pk=made.workflow_id).latest_version_id == made.version_id


@pytest.mark.django_db
def test_a_canary_is_not_promoted_before_enough_executions_ended() -> None:
    made = canary(promote_after=3_600)
    ended(made, "SUCCESS", 19)
    Canary.objects.filter(pk=made.pk).update(promote_at=database_now() - timedelta(seconds=1))

    assert watching.watch() == 0


@pytest.mark.django_db
def test_a_canary_is_not_promoted_where_only_git_publishes() -> None:
    made = canary(promote_after=3_600)
    ended(made, "SUCCESS", 20)
    past = database_now() - timedelta(seconds=1)
    Canary.objects.filter(pk=made.pk).update(promote_at=past, watched_at=past)
    Workspace.objects.update(publish_from_git=True)

    assert watching.watch() == 0

    made.refresh_from_db()
    assert (made.state, made.watched_at > past) == (CanaryState.RUNNING, True)


@pytest.mark.django_db
def test_a_canary_without_a_rule_does_not_stop_by_itself() -> None:
    made = canary(rule=None)
    ended(made, "FAILED", 60)

    assert watching.watch() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("on_canary", "asked"), [(False, 0), (True, 1)])
def test_a_failure_asks_for_a_look_without_a_query(
    on_canary: bool,
    asked: int,
    django_assert_num_queries: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    made = canary()
    ended(made, "FAILED", 1)
    WorkflowExecution.objects.update(canary=on_canary)
    execution = WorkflowExecution.objects.get()

    with django_assert_num_queries(0), django_capture_on_commit_callbacks() as callbacks:
        watching.note_failure(WorkflowExecution, execution=execution)

    assert len(callbacks) == asked


@pytest.mark.django_db(transaction=True)
def test_of_concurrent_ends_one_wins_and_the_state_is_that_of_the_workflow() -> None:
    made = canary()
    ends = iter([lifecycle.stop, lifecycle.promote, lifecycle.stop, lifecycle.promote])

    found = at_once(lambda: next(ends)(made.pk, actor=ACTOR))

    assert sum(isinstance(one, Canary) for one in found) == 1
    assert sum(isinstance(one, WrongState) for one in found) == 3
    made.refresh_from_db()
    workflow = Workflow.objects.get(pk=made.workflow_id)
    assert workflow.canary_version_id is None
    promoted = workflow.latest_version_id == made.version_id
    assert made.state == (CanaryState.PROMOTED if promoted else CanaryState.STOPPED)
    assert Activity.objects.filter(action__in=["canary.stop", "canary.promote"]).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_stop_and_a_publication_at_once_leave_no_share() -> None:
    made = canary()
    calls = iter(
        [
            lambda: lifecycle.stop(made.pk, actor=ACTOR),
            lambda: versioning.publish(made.workflow_id, actor=ACTOR),
        ]
    )

    at_once(lambda: next(calls)(), times=2)  # noqa: PLW0108 - each thread takes another call

    made.refresh_from_db()
    assert made.state in {CanaryState.STOPPED, CanaryState.REPLACED}
    workflow = Workflow.objects.get(pk=made.workflow_id)
    assert (workflow.canary_version_id, workflow.canary_percent) == (None, None)
    assert not rollout.set_share(made.workflow_id, made.version_id, 50)
