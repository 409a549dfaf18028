"""Tests of budgets and costs in the admin: permissions, contents of pages, rejected input."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from executions.database.clock import database_now
from executions.models import Activity, Membership, WorkflowExecution
from executions.triggers.start import start_batch
from tests.support import admin_rows as rows
from tests.support.workflows import ACTOR, publish, task
from valkyr_plugins.limits.budgets import start_of
from valkyr_plugins.limits.models import Budget, BudgetUse, CostEntry

pytestmark = pytest.mark.django_db
LIST = "/admin/valkyr_limits/budget/"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def form(**more: str) -> dict[str, str]:
    given = {"workspace": str(rows.workspace().pk), "period": "month", "amount": "20"}
    return given | {"soft_percent": "80"} | more


def cost(**facts: Any) -> CostEntry:
    workflow = publish({"tasks": [task("one")]}, rows.workspace())
    [execution] = start_batch(workflow, [{}], actor=ACTOR)
    ran = WorkflowExecution.objects.get(pk=execution.pk)
    return CostEntry.objects.create(
        workspace_id=ran.workspace_id,
        workflow_id=ran.workflow_id,
        execution=ran,
        run_id=ran.runs.get().pk,
        module="llm.chat",
        model="m-1",
        tokens=1_234,
        amount=Decimal("5.25"),
        currency="USD",
        **facts,
    )


def test_a_budget_is_added_shown_with_its_use_and_changed(op: Client) -> None:
    added = op.post(f"{LIST}add/", form(currency="USD"))
    assert added.status_code == 302, added.content
    budget = Budget.objects.get()
    starts_at = start_of("month", database_now(), budget.created_at)
    BudgetUse.objects.create(budget=budget, starts_at=starts_at, spent=Decimal("5.25"))
    cost()
    page = reverse("admin:valkyr_limits_budget_change", args=[budget.pk])

    shown, one = op.get(LIST).content.decode(), op.get(page).content.decode()
    op.post(page, {"amount": "30", "soft_percent": "", "kill_switch": "on"})

    assert "20 USD per month" in shown
    assert "5.25 (26.2 %)" in shown
    assert "m-1: 5.25 USD, 1,234 tokens" in one
    budget.refresh_from_db()
    assert (budget.amount, budget.soft_percent, budget.kill_switch) == (30, None, True)
    actions = Activity.objects.filter(object_type="Budget").order_by("created_at")
    assert [row.action for row in actions] == ["budget.create", "budget.update"]


def test_tokens_of_models_are_in_the_readers_language(op: Client) -> None:
    budget = Budget.objects.create(workspace=rows.workspace(), amount=20, currency="USD")
    cost()
    page = reverse("admin:valkyr_limits_budget_change", args=[budget.pk])

    shown = op.get(page, headers={"accept-language": "de"}).content.decode()

    assert "m-1: 5.25 USD, 1,234 Tokens" in shown


@pytest.mark.parametrize(
    "given",
    [{"amount": "0"}, {"amount": "many"}, {"currency": "usd"}, {"soft_percent": "200"},
     {"amount": "0.5"}, {"username": "nobody"}],
)  # fmt: skip
def test_a_budget_that_makes_no_sense_is_refused(op: Client, given: dict[str, str]) -> None:
    answer = op.post(f"{LIST}add/", form(**given), follow=True)

    assert answer.status_code == 200
    assert not Budget.objects.exists()


def test_a_list_of_many_budgets_takes_as_many_queries_as_one_of_few(op: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert "tokens per " in op.get(LIST).content.decode()
        return len(captured)

    Budget.objects.create(workspace=rows.workspace(), amount=1)
    queries()
    few = queries()
    for number in range(5):
        Budget.objects.create(workspace=rows.workspace(f"other-{number}"), amount=1)

    assert queries() == few


def test_deleting_asks_for_a_reason_and_keeps_it(op: Client) -> None:
    budget = Budget.objects.create(workspace=rows.workspace(), amount=1)
    address = reverse("admin:valkyr_limits_budget_operate_delete_budget", args=[budget.pk])

    op.post(address, {"_form_submitted": "True", "reason": "grown up"})

    assert not Budget.objects.exists()
    assert Activity.objects.get(action="budget.delete").reason == "grown up"


@pytest.mark.parametrize(("role", "seen"), [("ADMIN", True), ("WORKFLOW", False)])
def test_who_configures_a_workspace_sees_its_budgets(
    client: Client, django_user_model: Any, role: str, seen: bool
) -> None:
    Budget.objects.create(workspace=rows.workspace(), amount=17)
    Budget.objects.create(workspace=rows.workspace("elsewhere"), amount=18)
    user = django_user_model.objects.create(username="ada", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace(), role=role)
    client.force_login(user)

    text = client.get(LIST).content.decode()

    assert ("17 tokens" in text) == seen
    assert "18 tokens" not in text


def test_costs_are_listed_and_stand_on_the_page_of_their_execution(op: Client) -> None:
    entry = cost()

    listed = op.get("/admin/valkyr_limits/costentry/").content.decode()
    page = op.get(reverse("admin:valkyr_limits_costentry_change", args=[entry.pk])).content.decode()
    address = reverse("admin:executions_workflowexecution_change", args=[entry.execution_id])
    execution = op.get(address).content.decode()

    for text in (listed, page, execution):
        assert "5.25" in text
        assert "1,234" in text
