"""An archived workspace: no trigger starts anything, running executions can end, and restoring
reverts this.
"""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django_celery_beat.models import PeriodicTask
from rest_framework.test import APIClient

from executions.accounts import workspaces
from executions.database.clock import database_now
from executions.errors import WorkspaceArchived
from executions.models import CronTick, Trigger, Workflow, WorkflowExecution, Workspace
from executions.triggers import cron
from executions.triggers.event import publish_event
from executions.triggers.queues import intake
from executions.triggers.queues.message import QueueMessage
from executions.triggers.request import ParentRun
from executions.triggers.start import start_batch, start_child, start_execution
from executions.triggers.sync import switch
from executions.triggers.webhook import secret_of
from tests.support.triggers import only_trigger, publish_again, triggered
from tests.support.workflows import ACTOR, limited_workspace, publish, start

pytestmark = pytest.mark.django_db
EVERY_MINUTE = {"type": "CRON", "schedule": "* * * * *"}


@pytest.fixture(params=["unlimited", "limited"])
def workspace(request: pytest.FixtureRequest) -> Workspace:
    """Create a workspace with or without a limit: the engine reads the two in different ways."""
    made = limited_workspace(5)
    if request.param == "unlimited":
        type(made.tier).objects.filter(pk=made.tier_id).update(max_concurrent=None)
    return made


def _archive(workspace: Workspace) -> None:
    workspaces.archive_workspace(workspace.pk, actor=ACTOR)


def _restore(workspace: Workspace) -> None:
    workspaces.restore_workspace(workspace.pk, actor=ACTOR)


def test_nobody_starts_anything_and_nothing_is_written(workspace: Workspace) -> None:
    workflow = publish({"tasks": [{"id": "a", "use": "flow.noop"}]}, workspace)
    _archive(workspace)

    for begin in (
        lambda: start_execution(workflow, {}, actor=ACTOR),
        lambda: start_batch(workflow, [{}, {}], actor=ACTOR),
    ):
        with pytest.raises(WorkspaceArchived):
            begin()

    assert not WorkflowExecution.objects.exists()
    _restore(workspace)
    assert start(workflow)


def test_an_execution_under_way_still_starts_its_children(workspace: Workspace) -> None:
    workflow = publish({"tasks": [{"id": "a", "use": "flow.noop"}]}, workspace)
    parent = start(workflow)
    _archive(workspace)

    child = start_child(
        workflow, {}, parent=ParentRun(parent, 0, "MANUAL", 5), key="child", actor=ACTOR
    )

    assert child.parent_id == parent


def test_a_webhook_is_refused_with_the_reason(workspace: Workspace) -> None:
    hook = only_trigger(triggered({"type": "WEBHOOK", "auth": "bearer"}, workspace=workspace))
    _archive(workspace)

    answer = APIClient().post(
        f"/v1/hooks/{hook.pk}",
        {},
        format="json",
        headers={"Authorization": f"Bearer {secret_of(hook.pk, hook.secret_version)}"},
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "workspace_archived")


def test_a_message_goes_back_to_its_queue(workspace: Workspace) -> None:
    listener = only_trigger(triggered({"type": "QUEUE", "queue": "orders"}, workspace=workspace))
    _archive(workspace)
    message = QueueMessage(b"{}", {}, None, uuid4(), lasting=True)

    assert intake.take(listener.pk, message).verdict == "later"
    _restore(workspace)
    assert intake.take(listener.pk, message).verdict == "started"


def test_an_event_starts_nothing_and_says_so(workspace: Workspace) -> None:
    triggered({"type": "EVENT", "event": "order.created"}, workspace=workspace)
    _archive(workspace)

    told = publish_event(workspace, "order.created", {}, actor=ACTOR).event

    assert [line["code"] for line in told.started] == ["workspace_archived"]


def test_a_schedule_rests_and_does_not_catch_up(workspace: Workspace) -> None:
    trigger = only_trigger(triggered(EVERY_MINUTE, workspace=workspace))
    _archive(workspace)

    assert cron.fire(trigger.pk) is None
    assert _next_at(trigger) is None
    assert not PeriodicTask.objects.filter(name__contains=str(trigger.pk)).exists()
    _restore(workspace)
    due = _next_at(trigger)
    assert due is not None
    assert timedelta(0) < due - database_now() <= timedelta(minutes=1)
    assert PeriodicTask.objects.filter(name__contains=str(trigger.pk)).count() == 1
    assert not CronTick.objects.exists()


@pytest.mark.parametrize("what", ["publishing", "switching on"])
def test_nothing_wakes_a_schedule_before_its_workspace(workspace: Workspace, what: str) -> None:
    workflow = triggered(EVERY_MINUTE, workspace=workspace)
    trigger = only_trigger(workflow)
    switch(trigger.pk, enabled=False, actor=ACTOR)
    _archive(workspace)

    if what == "publishing":
        publish_again(workflow, {"type": "CRON", "schedule": "*/5 * * * *"})
    else:
        switch(trigger.pk, enabled=True, actor=ACTOR)

    assert not PeriodicTask.objects.filter(name__contains="valkyr: trigger", enabled=True).exists()
    assert cron.tend() == {"followed": 0, "noted": 0, "started": 0}
    _restore(workspace)
    live = Trigger.objects.filter(workflow=workflow, enabled=True)
    assert [bool(row.next_at) for row in live] == [True]


def test_a_time_that_waited_for_its_turn_is_refused(workspace: Workspace) -> None:
    trigger = only_trigger(triggered(EVERY_MINUTE, workspace=workspace))
    tick = CronTick.objects.create(
        trigger=trigger, fire_at=database_now() - timedelta(seconds=5), status="QUEUED",
        start_at=database_now() - timedelta(seconds=5), reason="Due; waits for earlier fire times.",
    )  # fmt: skip
    _archive(workspace)

    cron.tend()

    tick.refresh_from_db()
    assert tick.status == "REFUSED"
    assert tick.reason.startswith("workspace_archived")


def _next_at(trigger: Trigger) -> Any:
    return Workflow.objects.get(pk=trigger.workflow_id).triggers.get(pk=trigger.pk).next_at
