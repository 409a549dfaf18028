"""Links from the admin's pages to the studio."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from executions.models import Activity, Workflow
from executions.publishing.from_code import publish_from_code
from tests.support import admin_rows as rows
from tests.support.workflows import publish, task

pytestmark = pytest.mark.django_db
ADMIN = "/admin/executions"


@pytest.fixture
def op(admin_client: Client, static_files: None) -> Client:
    """Return a superuser's client."""
    return admin_client


@pytest.fixture
def workflow() -> Workflow:
    return publish({"name": "Order", "tasks": [task("a")]})


def test_a_workflow_opens_in_the_studio(op: Client, workflow: Workflow) -> None:
    answer = op.get(f"{ADMIN}/workflow/{workflow.pk}/studio/")
    assert answer.status_code == 302
    assert answer["Location"] == f"/studio/{workflow.pk}/"
    assert op.get(answer["Location"]).status_code == 200


def test_a_workflow_from_code_is_shown_by_the_admin_and_taken_over_there(op: Client) -> None:
    document = {"schema": "valkyr/1", "name": "Fulfil", "tasks": [task("a")]}
    made = publish_from_code("fulfil", document, origin="shop.flows:fulfil", line=42)
    address = f"{ADMIN}/workflow/{made.workflow_id}"

    shown = op.get(f"{address}/change/").content.decode()
    switched = op.post(f"{address}/change/", {"name": "Other", "draft": "{}"})
    taken = op.post(f"{address}/take-over/", {"reason": "try a change", "_form_submitted": "1"})

    assert "shop.flows:fulfil, line 42" in shown
    assert "Create editable copy" in shown
    assert 'name="draft"' not in shown
    assert switched.status_code == 302
    source = Workflow.objects.get(pk=made.workflow_id)
    assert (source.name, source.enabled, source.definition) == ("Fulfil", False, document)
    copy = Workflow.objects.get(slug="fulfil-copy")
    assert taken["Location"] == f"{ADMIN}/workflow/{copy.pk}/change/"
    assert Activity.objects.get(action="workflow.take_over").reason == "try a change"


def test_the_lists_and_pages_offer_it(op: Client, workflow: Workflow) -> None:
    execution = rows.execution(workflow)
    for address in (
        f"{ADMIN}/workflow/",
        f"{ADMIN}/workflow/{workflow.pk}/change/",
        f"{ADMIN}/workflowexecution/",
        f"{ADMIN}/workflowexecution/{execution.pk}/change/",
    ):
        assert "Open in studio" in op.get(address).content.decode(), address


def test_an_execution_opens_with_its_data(op: Client, workflow: Workflow) -> None:
    execution = rows.execution(workflow)
    answer = op.get(f"{ADMIN}/workflowexecution/{execution.pk}/studio/")
    assert answer["Location"] == f"/studio/{workflow.pk}/?execution={execution.pk}"


def test_its_page_leads_there_and_to_a_fork_with_changes(op: Client, workflow: Workflow) -> None:
    execution = rows.execution(workflow)
    shown = op.get(f"{ADMIN}/workflowexecution/{execution.pk}/change/").content.decode()
    assert f'href="{ADMIN}/workflowexecution/{execution.pk}/studio/"' in shown
    assert f'data-studio="/studio/{workflow.pk}/?execution={execution.pk}"' in shown


def test_of_an_archived_workflow_there_is_no_draft_to_open(op: Client, workflow: Workflow) -> None:
    execution = rows.execution(workflow)
    Workflow.objects.filter(pk=workflow.pk).update(archived_at=timezone.now())
    answer: Any = op.get(f"{ADMIN}/workflowexecution/{execution.pk}/studio/", follow=True)
    assert answer.redirect_chain[-1][0].endswith(f"/{execution.pk}/change/")
    assert "archived" in answer.content.decode()
    page = op.get(f"{ADMIN}/workflowexecution/{execution.pk}/change/").content.decode()
    assert "Open in studio" not in page


def test_who_sees_nothing_of_it_is_refused(
    client: Client, workflow: Workflow, django_user_model: Any
) -> None:
    execution = rows.execution(workflow)
    client.force_login(django_user_model.objects.create_user("guest", is_staff=True))
    assert client.get(f"{ADMIN}/workflow/{workflow.pk}/studio/").status_code == 403
    assert client.get(f"{ADMIN}/workflowexecution/{execution.pk}/studio/").status_code == 403
