"""The page of everything that is blocked: causes, numbers, remedies, and permissions.

`.ci/test` also runs these tests with every plugin left out.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from executions.admin import marks
from executions.admin.execution import StateFilter as ExecutionStates
from executions.database.clock import database_now
from executions.models import Membership, Workflow
from runners.admin.run import StateFilter as RunStates
from runners.models import Runner
from runners.states import WaitKind
from tests.support import admin_rows as rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]

ADDRESS = "/admin/runners/run/blocked/"


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def op(django_user_model: Any) -> Client:
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def _member(django_user_model: Any, of: Workflow, role: str) -> Client:
    user = django_user_model.objects.create_user(role.lower(), is_staff=True)
    Membership.objects.create(user=user, workspace=of.workspace, role=role)
    client = Client()
    client.force_login(user)
    return client


def _causes(client: Client) -> dict[str, str]:
    """Return each cause with its number."""
    answer = client.get(ADDRESS)
    assert answer.status_code == 200
    shown = answer.context["section"].rows
    return {str(row[0]).partition(">")[2].partition("<")[0]: row[1] for row in shown}


def _one_of_each(of: Workflow) -> None:
    live = rows.execution(of)
    for kind in WaitKind:
        rows.run(live, f"{kind}.main", "WAITING", waits_for=kind.value)
    rows.run(live, "ready.main", "PENDING", queue="gpu", started_at=None)
    later = database_now() + timedelta(minutes=5)
    rows.run(live, "later.main", "PENDING", started_at=None, retry_after=later)
    rows.execution(of, "PENDING")
    rows.execution(of, "PAUSED")


def test_each_cause_is_shown_with_its_number(op: Client, workflow: Workflow) -> None:
    _one_of_each(workflow)

    assert _causes(op) == {
        "Executions that wait for a slot of their workspace": "1",
        "Paused executions": "1",
        "Steps that wait for a worker of the queue gpu": "1",
        "Steps that wait for their next attempt": "1",
        "Steps that wait for an approval": "1",
        "Steps that wait for an event": "1",
        "Steps that wait for a callback": "1",
        "Steps that wait for a timer": "1",
        "Steps that wait for a child execution": "1",
        "Steps whose target&#x27;s circuit is open": "1",
        "Steps that would exceed a quota": "1",
    }


def test_a_queue_without_a_worker_names_the_command(op: Client, workflow: Workflow) -> None:
    rows.run(rows.execution(workflow), "a.main", "PENDING", queue="gpu", started_at=None)
    assert "celery -A valkyr_project worker -Q gpu" in op.get(ADDRESS).content.decode()

    Runner.objects.create(name="gpu@box", host="box", pid=1, pool="threads", queues=["gpu"])
    assert "A worker of the queue becomes free" in op.get(ADDRESS).content.decode()


def test_nothing_waits_is_said(op: Client, workflow: Workflow) -> None:
    rows.execution(workflow, "SUCCESS")

    assert _causes(op) == {}
    assert "Nothing is waiting" in op.get(ADDRESS).content.decode()


def test_other_workspaces_are_not_counted(django_user_model: Any, workflow: Workflow) -> None:
    _one_of_each(rows.workflow("secret", owner=rows.workspace("elsewhere")))

    assert _causes(_member(django_user_model, workflow, "ADMIN")) == {}


def test_who_may_not_see_runs_is_refused(django_user_model: Any, workflow: Workflow) -> None:
    assert _member(django_user_model, workflow, "USER").get(ADDRESS).status_code == 403


def test_it_costs_as_many_statements_with_many_rows_as_with_few(
    op: Client, workflow: Workflow
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as seen:
            op.get(ADDRESS)
        return len(seen)

    _one_of_each(workflow)
    few = cost()
    for _ in range(3):
        _one_of_each(workflow)

    assert cost() == few


@pytest.mark.parametrize("tabs", [ExecutionStates.groups, RunStates.groups])
def test_a_tab_of_one_state_has_the_word_of_its_badge(tabs: dict[str, tuple[str, ...]]) -> None:
    words = {states[0]: word for word, states in tabs.items() if len(states) == 1}

    assert words == {state: str(marks.MARKS[state][0]) for state in words}
