"""For any request, the returned start equals its row in the database."""

from collections.abc import Callable, Sequence
from uuid import uuid4

import pytest

from executions.access.actor import Actor
from executions.models import Workflow, WorkflowExecution
from executions.triggers.request import Branch, ParentRun
from executions.triggers.start import owe_execution, start_batch, start_child, start_execution
from tests.support.workflows import limited_workspace, publish, task

pytestmark = pytest.mark.django_db
ACTOR = Actor(None, "a test")
PAYLOADS = [{"n": 1, "text": 'a "b" \\ ü\n'}, None, [], "text", 1.5, {"n": 3, "b": {"a": None}}]
Start = Callable[[Workflow], Sequence[WorkflowExecution]]


@pytest.fixture
def workflow() -> Workflow:
    """Publish a workflow in whose workspace two executions may run at once, and one with each
    key.
    """
    settings = {
        "timeoutSeconds": 90.5,
        "priority": 7,
        "concurrency": {"key": "{{ input.n if input is mapping else '' }}", "limit": 1},
    }
    return publish(
        {"settings": settings, "variables": {"seen": [1, "ü"]}, "tasks": [task("begin")]},
        limited_workspace(2),
    )


def with_everything(workflow: Workflow) -> list[WorkflowExecution]:
    started = start_execution(workflow, PAYLOADS[0], actor=ACTOR, priority=3, idempotency_key="k")
    return [started.execution]


def a_batch(workflow: Workflow) -> list[WorkflowExecution]:
    return start_batch(workflow, PAYLOADS, actor=ACTOR)


def a_branch(workflow: Workflow) -> list[WorkflowExecution]:
    [origin] = with_everything(workflow)
    branch = Branch(origin.pk, origin.version_id, point="begin.main")
    return [start_execution(workflow, None, actor=ACTOR, branch=branch).execution]


def a_child(workflow: Workflow) -> list[WorkflowExecution]:
    [above] = with_everything(workflow)
    parent = ParentRun(above.pk, 2, "CRON", 4, failure_of=above.pk, run_id=uuid4(), principal_id=9)
    return [start_child(workflow, {"n": 1}, parent=parent, key="c", actor=ACTOR)]


def one_that_is_owed(workflow: Workflow) -> list[WorkflowExecution]:
    [failed] = with_everything(workflow)
    return [owe_execution(workflow, {"n": 1}, actor=ACTOR, failure_of=failed, key="o", reason="it")]


@pytest.mark.parametrize("start", [with_everything, a_batch, a_branch, a_child, one_that_is_owed])
def test_the_rows_hold_what_the_caller_was_given(workflow: Workflow, start: Start) -> None:
    given = start(workflow)
    names = [field.attname for field in WorkflowExecution._meta.concrete_fields]
    for made in given:
        row = WorkflowExecution.objects.get(pk=made.pk)
        assert {n: getattr(row, n) for n in names} == {n: getattr(made, n) for n in names}
