"""Starts inside a caller's transaction are part of it, and do not block other starts."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client, TestCase, override_settings
from django.urls import path

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
    """Start an execution in another thread's transaction, which is committed at the end of the
    block.
    """
    started, end, errors = threading.Event(), threading.Event(), list[Exception]()

    def run() -> None:
        try:
            with transaction.atomic():
                start_from_code(workflow_id, payload)
                started.set()
                end.wait(timeout=60)
        except Exception as error:
            errors.append(error)
            started.set()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert started.wait(timeout=60)
        yield
    finally:
        end.set()
        thread.join(timeout=60)
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


def view(request: HttpRequest) -> HttpResponse:
    """Start an execution, and then fail if requested."""
    start_from_code(request.GET["workflow"], None)  # type: ignore[arg-type]
    assert connection.in_atomic_block
    if "fail" in request.GET:
        raise ValueError("after the start")
    return HttpResponse("started")


def handler500(request: HttpRequest) -> HttpResponse:
    """Return no error page, because it would need the project's static files."""
    return HttpResponse(status=500)


urlpatterns = [path("start", view)]


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[])
def test_a_start_vanishes_with_a_request_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "ATOMIC_REQUESTS", True)
    client = Client(raise_request_exception=False)
    workflow_id = published(default_workspace())

    assert client.get(f"/start?workflow={workflow_id}&fail=1").status_code == 500
    assert states() == []
    assert client.get(f"/start?workflow={workflow_id}").status_code == 200
    assert states() == ["RUNNING"]


class TestWithinATestCase(TestCase):
    """Starts in a project's own tests, in which nothing is ever committed."""

    def test_the_execution_is_there_and_nothing_is_sent(self) -> None:
        workflow_id = published(default_workspace())

        with self.captureOnCommitCallbacks() as callbacks:
            handle = start_from_code(workflow_id, {"order": 7})

        assert handle.state == "RUNNING"
        assert len(callbacks) > 0
        with pytest.raises(transaction.TransactionManagementError, match="has not ended"):
            handle.output(timeout=1)

    def test_what_waits_is_admitted_where_the_callbacks_run(self) -> None:
        workflow_id = published(limited_workspace(1))

        with self.captureOnCommitCallbacks(execute=True):
            handle = start_from_code(workflow_id, None)
            assert handle.state == "PENDING"

        assert handle.state == "RUNNING"
