"""Starts inside a caller's transaction: part of it, and nobody waits for it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from executions.models import WorkflowExecution, Workspace
from executions.public.publishing import publish_from_code
from executions.public.starting import start_from_code, start_many_from_code
from tests.support.workflows import default_workspace, limited_workspace

pytestmark = pytest.mark.django_db(transaction=True)
NOOP = {"schema": "valkyr/1", "name": "Fulfil", "tasks": [{"id": "a", "use": "flow.noop"}]}
KEYED = NOOP | {"settings": {"concurrency": {"key": "{{ input.customer }}"}}}


def published(workspace: Workspace, definition: dict[str, Any] = NOOP) -> Any:
    made = publish_from_code("fulfil", definition, origin="shop.flows:f", workspace=workspace)
    return made.workflow_id


def states() -> list[str]:
    return list(WorkflowExecution.objects.order_by("pk").values_list("state", flat=True))


@contextmanager
def an_open_transaction_that_started(workflow_id: Any, payload: Any) -> Iterator[None]:
    """Another thread's transaction, in which it started an execution; committed at the end."""
    started, end, errors = threading.Event(), threading.Event(), list[Exception]()

    def run() -> None:
        try:
            with transaction.atomic():
                start_from_code(workflow_id, payload)
                started.set()
                end.wait(timeout=20)
        except Exception as error:
            errors.append(error)
            started.set()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(timeout=10)
        yield
    finally:
        end.set()
        thread.join(timeout=20)
    assert not errors


def test_a_start_vanishes_with_the_transaction_or_savepoint_it_is_part_of() -> None:
    workflow_id = published(default_workspace())

    with transaction.atomic():
        start_from_code(workflow_id, None)
        transaction.set_rollback(True)
    assert states() == []

    with transaction.atomic():
        kept = start_from_code(workflow_id, 1)
        with transaction.atomic():
            start_from_code(workflow_id, 2)
            transaction.set_rollback(True)
    assert list(WorkflowExecution.objects.values_list("pk", flat=True)) == [kept.id]


@pytest.mark.parametrize("keyed", [False, True])
def test_nobody_waits_for_an_open_transaction_that_started_something(keyed: bool) -> None:
    workspace = default_workspace() if keyed else limited_workspace(2)
    workflow_id = published(workspace, KEYED if keyed else NOOP)
    with an_open_transaction_that_started(workflow_id, {"customer": "ada"}):
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '2s'")
        start_from_code(workflow_id, {"customer": "ada"})
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")
        assert states() == ["RUNNING"]

    assert sorted(states()) == (["PENDING", "RUNNING"] if keyed else ["RUNNING", "RUNNING"])


def test_the_limit_of_a_tier_is_kept_by_starts_in_transactions() -> None:
    workflow_id = published(limited_workspace(2))

    with transaction.atomic():
        start_many_from_code(workflow_id, [1, 2, 3])
        assert states() == ["PENDING"] * 3

    assert sorted(states()) == ["PENDING", "RUNNING", "RUNNING"]


def test_an_equal_key_leaves_the_callers_transaction_usable() -> None:
    workflow_id = published(default_workspace())

    with transaction.atomic():
        first = start_from_code(workflow_id, 1, key="k")
        assert start_from_code(workflow_id, 1, key="k") == first

    assert len(states()) == 1
