"""The search of the command palette: its results for each user, and its bounds.

`.ci/test` also runs these tests with every plugin left out.
"""

from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from executions.models import Membership, Workflow, WorkflowExecution
from tests.support import admin_rows as rows

pytestmark = pytest.mark.django_db

ADDRESS = "/admin/executions/workflow/search/"


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def op(django_user_model: Any) -> Client:
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def _found(client: Client, term: Any) -> dict[str, str]:
    answer = client.get(ADDRESS, {"q": term})
    assert answer.status_code == 200
    return {one["address"]: one["title"] for one in answer.json()["results"]}


def _page(model: str, pk: Any) -> str:
    return f"/admin/{model}/{pk}/change/"


def test_an_id_of_any_kind_leads_to_its_page(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    pages = {
        entry.pk: "dlq/deadletterentry",
        entry.run_id: "runners/run",
        entry.group_id: "dlq/failuregroup",
        workflow.pk: "executions/workflow",
    }

    for pk, model in pages.items():
        assert _page(model, pk) in _found(op, pk)


def test_an_executions_id_leads_to_its_dead_letters_too(op: Client, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)

    found = _found(op, entry.execution_id)

    assert list(found) == [
        _page("executions/workflowexecution", entry.execution_id),
        _page("dlq/deadletterentry", entry.pk),
    ]


def test_an_idempotency_key_and_a_trace_lead_to_the_execution(
    op: Client, workflow: Workflow
) -> None:
    execution = rows.execution(workflow)
    trace = uuid4().hex
    WorkflowExecution.objects.filter(pk=execution.pk).update(
        idempotency_key="ORD-1066", trace_id=trace
    )
    page = _page("executions/workflowexecution", execution.pk)

    assert _found(op, " ORD-1066 ")[page] == "Order import · ORD-1066"
    assert page in _found(op, trace)

    key = str(uuid4())
    WorkflowExecution.objects.filter(pk=execution.pk).update(idempotency_key=key)
    assert page in _found(op, key)


def test_workflows_and_lists_are_found_by_their_names(op: Client, workflow: Workflow) -> None:
    assert _page("executions/workflow", workflow.pk) in _found(op, "order imp")
    assert "/admin/dlq/deadletterentry/" in _found(op, "dead")


def test_an_empty_search_lists_the_pages_that_one_may_open(
    op: Client, django_user_model: Any, workflow: Workflow
) -> None:
    user = django_user_model.objects.create_user("ann", is_staff=True)
    Membership.objects.create(user=user, workspace=workflow.workspace, role="WORKFLOW")
    ann = Client()
    ann.force_login(user)

    assert "/admin/executions/apitoken/" in _found(op, "")
    everything, hers = _found(op, ""), _found(ann, "")
    assert "/admin/executions/workflowexecution/" in hers
    assert set(hers) < set(everything)


def test_rows_of_another_workspace_are_not_found(
    op: Client, django_user_model: Any, workflow: Workflow
) -> None:
    user = django_user_model.objects.create_user("ann", is_staff=True)
    Membership.objects.create(user=user, workspace=workflow.workspace, role="ADMIN")
    ann = Client()
    ann.force_login(user)
    entry = rows.failed_order(rows.workflow("secret", owner=rows.workspace("elsewhere")))
    key = "ORD-9999"
    WorkflowExecution.objects.filter(pk=entry.execution_id).update(idempotency_key=key)

    for term in (entry.pk, entry.run_id, entry.group_id, entry.execution_id, key, "secret"):
        assert _found(ann, term) == {}
        assert _found(op, term)


@pytest.mark.parametrize("term", ["%", "\x00", "' OR 1=1 --", "x" * 5_000, "0" * 32, "ß\u202e"])
def test_odd_terms_are_only_texts(op: Client, term: str) -> None:
    _found(op, term)


def test_it_needs_a_sign_in() -> None:
    assert Client().get(ADDRESS).status_code == 302


def test_it_costs_as_many_statements_with_many_rows_as_with_few(
    op: Client, workflow: Workflow
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as seen:
            _found(op, "order")
        return len(seen)

    few = cost()
    for number in range(20):
        rows.workflow(f"order {number}")

    assert cost() == few
    assert len([title for title in _found(op, "order").values() if "rder" in title]) <= 6
