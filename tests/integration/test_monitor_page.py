"""An execution's page without a browser: access to it, and its contents for each user."""

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


def _page(execution: WorkflowExecution) -> str:
    return f"/admin/executions/workflowexecution/{execution.pk}/change/"


def test_a_member_watches_and_operates(
    django_user_model: Any, execution: WorkflowExecution
) -> None:
    client = _client(django_user_model, execution, "WORKFLOW")

    answer = client.get(_page(execution))

    assert answer.status_code == 200
    page = answer.content.decode()
    for name, offered in (("pause", True), ("cancel", True), ("replay", True), ("resume", False)):
        assert (f'/{execution.pk}/{name}/"' in page) == offered, name
    assert f'data-fork="/admin/executions/workflowexecution/{execution.pk}/fork/"' in page
    assert f'data-execution="{execution.pk}"' in page
    assert "hunter2" not in page


@pytest.mark.parametrize("role", ["", "USER"])
def test_who_may_not_see_it_gets_no_page(
    django_user_model: Any, execution: WorkflowExecution, role: str
) -> None:
    client = _client(django_user_model, execution, role)

    assert client.get(_page(execution)).status_code in {403, 404}


def test_nobody_is_sent_to_sign_in(client: Client, execution: WorkflowExecution) -> None:
    answer = client.get(_page(execution))

    assert answer.status_code == 302
    assert answer["Location"].startswith("/admin/login/")


def test_a_run_leads_to_it_with_itself_selected(
    client: Client, django_user_model: Any, execution: WorkflowExecution
) -> None:
    run = rows.run(execution)
    boss = django_user_model.objects.create(username="op", is_staff=True, is_superuser=True)
    client.force_login(boss)

    of_run = client.get(f"/admin/runners/run/{run.pk}/change/")

    assert f"{_page(execution)}?run={run.pk}" in of_run.content.decode()


PAYLOADS = [
    ({"order": 1047, "customer": "ada", "password": "hunter2"}, "order 1047, customer ada"),
    ({"total": 24.5, "orderId": "A-17", "euros": 2.0}, "orderId A-17, euros 2, total 24.5"),
    ({"body": {"order": 7, "express": True}, "headers": {"x": 1}}, "order 7, express true"),
    ({"text": "word " * 40, "n": 1.5}, "n 1.5, text word word word word wor…"),
    ({"items": [1, 2]}, None),
    (None, None),
]


@pytest.mark.parametrize(("payload", "subject"), PAYLOADS)
def test_its_title_names_the_workflow_and_what_it_is_about(
    django_user_model: Any, execution: WorkflowExecution, payload: Any, subject: str | None
) -> None:
    WorkflowExecution.objects.filter(pk=execution.pk).update(trigger_payload=payload)
    client = _client(django_user_model, execution, "WORKFLOW")

    page = client.get(_page(execution)).content.decode()

    about = subject or f"…{str(execution.pk)[-8:]}"
    assert f"{execution.workflow} · {about}" in page


def test_its_title_shows_no_payload_to_who_may_not_see_it(
    django_user_model: Any, execution: WorkflowExecution
) -> None:
    WorkflowExecution.objects.filter(pk=execution.pk).update(trigger_payload={"order": 1047})

    page = _viewer(django_user_model, execution).get(_page(execution)).content.decode()

    assert "1047" not in page
    assert f"…{str(execution.pk)[-8:]}" in page


def test_facts_without_a_value_are_not_shown(
    django_user_model: Any, execution: WorkflowExecution
) -> None:
    page = _client(django_user_model, execution, "WORKFLOW").get(_page(execution))

    labels = [fact.label for fact in page.context["page"].facts]
    titles = [section.title for section in page.context["page"].sections]
    assert "Idempotency key" not in labels
    assert "Slot" not in labels
    assert "Dead letters" not in titles
    assert "Metrics" not in titles


@pytest.mark.parametrize(("state", "primary"), [("PAUSED", "Resume…"), ("SUCCESS", "Replay…")])
def test_one_button_is_the_primary_one(
    django_user_model: Any, static_files: None, state: str, primary: str
) -> None:
    execution = rows.execution(rows.workflow(), state)
    page = _client(django_user_model, execution, "WORKFLOW").get(_page(execution))

    first, second, menu = page.context["actions_detail"]

    assert (first["title"], first["variant"].value) == (primary, "primary")
    assert second["variant"].value == "default"
    assert "items" in menu
    assert all(item["variant"].value != "primary" for item in menu["items"])


def test_a_fork_begins_with_the_step_that_the_page_names(
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
    """Return a client of a user who may see the workflow's executions, but not their payloads."""
    user = django_user_model.objects.create(username="eve", is_staff=True)
    Membership.objects.create(user=user, workspace_id=execution.workspace_id, role="USER")
    assign_perm("read_workflow", user, execution.workflow)
    client = Client()
    client.force_login(user)
    return client
