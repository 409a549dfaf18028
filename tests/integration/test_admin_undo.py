"""An execution's page says that the execution was undone, or offers to undo it."""

from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from dlq.models import DeadLetterEntry
from executions.models import WorkflowExecution
from tests.support.single_thread import World, world
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db(transaction=True)
TASKS = [
    task("book", undo={"use": "flow.noop"}),
    task("bad", "flow.fail", "book", **{"with": {"message": "sold out"}}),
]


@pytest.fixture
def op(client: Client, django_user_model: Any, static_files: None) -> Client:
    """Return a superuser's client."""
    cache.clear()
    client.force_login(
        django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    )
    return client


@pytest.fixture
def quiet(monkeypatch: pytest.MonkeyPatch) -> Any:
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as made:
        yield made


def failed(quiet: World, compensation: str) -> UUID:
    settings = {"compensation": compensation}
    execution = start(publish({"tasks": TASKS, "settings": settings}))
    quiet.drain()
    return execution


def page(op: Client, model: str, pk: Any) -> str:
    answer = op.get(reverse(f"admin:{model}_change", args=[pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_page_shows_the_undo_steps_and_a_dead_letter_that_cannot_go_on(
    op: Client, quiet: World
) -> None:
    execution = failed(quiet, "automatic")

    shown = page(op, "executions_workflowexecution", execution)
    letter = DeadLetterEntry.objects.get(execution=execution)
    dead = page(op, "dlq_deadletterentry", letter.pk)

    assert "undo:book" in shown
    assert "undone" in shown
    assert "operate_undo" not in shown
    requeue = reverse("admin:dlq_deadletterentry_operate_requeue", args=[letter.pk])
    assert requeue not in dead


def test_a_failed_execution_is_undone_from_its_page(op: Client, quiet: World) -> None:
    execution = failed(quiet, "manual")
    address = reverse("admin:executions_workflowexecution_operate_undo", args=[execution])
    assert address in page(op, "executions_workflowexecution", execution)

    answer = op.post(
        address, {"confirmed": "yes", "_form_submitted": "True", "reason": "The customer gave up."}
    )
    quiet.drain()

    assert answer.status_code < 400
    row = WorkflowExecution.objects.get(pk=execution)
    assert (row.state, row.compensation) == ("FAILED", "DONE")
