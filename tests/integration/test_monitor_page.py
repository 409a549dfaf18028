"""The monitor's page without a browser: access to it, and the buttons for each user."""

from typing import Any

import pytest
from django.test import Client

from executions.models import Membership, WorkflowExecution
from runners.models import Run
from tests.support import admin_rows as rows
from tests.support.sharing import assign_perm

pytestmark = pytest.mark.django_db


@pytest.fixture
def execution(static_files: None) -> WorkflowExecution:
    return rows.execution(rows.workflow())


def _client(django_user_model: Any, execution: WorkflowExecution, role: str) -> Client:
    user = django_user_model.objects.create(username="ada", is_staff=True)
    if role:
        Membership.objects.create(user=user, workspace_id=execution.workspace_id, role=role)
    client = Client()
    client.force_login(user)
    return client


def _monitor(execution: WorkflowExecution) -> str:
    return f"/admin/executions/workflowexecution/{execution.pk}/monitor/"


def test_a_member_watches_and_operates(
    django_user_model: Any, execution: WorkflowExecution
) -> None:
    client = _client(django_user_model, execution, "WORKFLOW")

    answer = client.get(_monitor(execution))

    assert answer.status_code == 200
    page = answer.content.decode()
    offered = {button.name: button.refusal for button in answer.context["buttons"]}
    assert offered == {
        "pause": "",
        "cancel": "",
        "replay": "",
        "fork": "",
        "resume": "Not possible: this execution is running.",
    }
    assert f'data-execution="{execution.pk}"' in page
    assert "hunter2" not in page


@pytest.mark.parametrize("role", ["", "USER"])
def test_who_may_not_see_it_gets_no_page(
    django_user_model: Any, execution: WorkflowExecution, role: str
) -> None:
    client = _client(django_user_model, execution, role)

    assert client.get(_monitor(execution)).status_code in {403, 404}


def test_nobody_is_sent_to_sign_in(client: Client, execution: WorkflowExecution) -> None:
    answer = client.get(_monitor(execution))

    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


def test_an_execution_and_its_runs_lead_to_it(
    client: Client, django_user_model: Any, execution: WorkflowExecution
) -> None:
    run = rows.run(execution)
    boss = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(boss)

    own = client.get(f"/admin/executions/workflowexecution/{execution.pk}/change/")
    of_run = client.get(f"/admin/runners/run/{run.pk}/change/")

    assert _monitor(execution) in own.content.decode()
    assert f"{_monitor(execution)}?run={run.pk}" in of_run.content.decode()


def test_a_fork_begins_with_the_step_that_the_monitor_names(
    client: Client, django_user_model: Any, execution: WorkflowExecution
) -> None:
    boss = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(boss)
    address = f"/admin/executions/workflowexecution/{execution.pk}/fork/"

    answer = client.get(address, {"step": "charge.main"})

    assert 'value="charge.main"' in answer.content.decode()


def test_the_log_and_the_details_of_an_error_are_payloads(
    client: Client, django_user_model: Any, execution: WorkflowExecution
) -> None:
    run = rows.run(execution)
    Run.objects.filter(pk=run.pk).update(logs=[{"message": "picked"}])
    address = f"/v1/Run/{run.pk}"

    boss = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(boss)
    assert client.get(address).json()["logs"] == [{"message": "picked"}]

    given = client.get(address).json()
    assert given["errorDetails"]
    viewer = _viewer(django_user_model, execution)
    hidden = viewer.get(address).json()
    assert "$hidden" in hidden["logs"]
    assert "$hidden" in hidden["errorDetails"]


def _viewer(django_user_model: Any, execution: WorkflowExecution) -> Client:
    """Somebody who may see the workflow's executions, without what is in them."""
    user = django_user_model.objects.create(username="eve", is_staff=True)
    Membership.objects.create(user=user, workspace_id=execution.workspace_id, role="USER")
    assign_perm("read_workflow", user, execution.workflow)
    client = Client()
    client.force_login(user)
    return client
