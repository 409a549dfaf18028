"""Tests of budgets and costs over HTTP: created, changed, rejected, and summed up."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from executions.database.clock import database_now
from executions.models import Activity, WorkflowExecution, Workspace
from valkyr_plugins.limits import known_limits
from valkyr_plugins.limits.budgets import end_of, start_of
from valkyr_plugins.limits.models import Budget, BudgetUse, CostEntry

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    known_limits.forget()


@pytest.fixture
def ran(author: APIClient, greeting: dict[str, Any]) -> WorkflowExecution:
    address = f"/v1/WorkflowExecution/{greeting['id']}/execute"
    started = author.post(address, {"params": {"name": "Ada"}}, format="json")
    return WorkflowExecution.objects.get(pk=started.json()["id"])


def create(client: APIClient, **body: Any) -> Any:
    return client.post("/v1/Budget", body, format="json")


def spend(budget: Budget, amount: str) -> None:
    starts_at = start_of(budget.period, database_now(), budget.created_at)
    BudgetUse.objects.create(budget=budget, starts_at=starts_at, spent=Decimal(amount))


def cost(execution: WorkflowExecution, **facts: Any) -> CostEntry:
    given = {"module": "llm.chat", "model": "m-1", "currency": "USD", "amount": 1, "tokens": 10}
    return CostEntry.objects.create(
        workspace_id=execution.workspace_id,
        workflow_id=execution.workflow_id,
        execution=execution,
        run_id=execution.pk,
        **given | facts,
    )


def test_a_budget_is_made_changed_and_shown_with_what_is_spent(
    admin: APIClient, author: APIClient, workspace: Workspace
) -> None:
    made = create(admin, amount="12.50", currency="EUR")
    assert made.status_code == 201, made.content
    budget = Budget.objects.get()
    spend(budget, "5")

    changed = admin.patch(made["Location"], {"amount": 20, "killSwitch": True}, format="json")
    seen = author.get(made["Location"]).json()

    assert made.json()["amount"] == "12.5"
    assert changed.json() == seen
    assert (seen["workspaceId"], seen["userId"]) == (str(workspace.pk), None)
    assert (seen["period"], seen["currency"], seen["killSwitch"]) == ("month", "EUR", True)
    assert (seen["amount"], seen["spent"], seen["percent"]) == ("20", "5", 25.0)
    assert seen["softPercent"] == 80
    BudgetUse.objects.update(spent=Decimal("19.999"))
    assert author.get(made["Location"]).json()["percent"] == 99.9
    actions = Activity.objects.filter(object_type="Budget").order_by("created_at")
    assert [row.action for row in actions] == ["budget.create", "budget.update"]
    assert actions[1].before == {**actions[0].after, "amount": "12.5"}
    assert (actions[1].after["amount"], actions[1].after["kill_switch"]) == ("20", True)
    assert admin.delete(made["Location"]).status_code == 204
    assert not Budget.objects.exists()


def test_a_budget_of_tokens_for_ever_has_no_currency_and_no_end(admin: APIClient) -> None:
    made = create(admin, amount=1_000_000, period="total").json()

    assert (made["currency"], made["amount"], made["endsAt"]) == (None, "1000000", None)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "amount"),
        ({"amount": 0}, "amount"),
        ({"amount": -1}, "amount"),
        ({"amount": "NaN"}, "amount"),
        ({"amount": "1e400"}, "amount"),
        ({"amount": True}, "amount"),
        ({"amount": "0.5"}, "amount"),
        ({"amount": "0.000000001", "currency": "USD"}, "amount"),
        ({"amount": 5, "currency": "usd"}, "currency"),
        ({"amount": 5, "currency": "€"}, "currency"),
        ({"amount": 5, "period": "year"}, "period"),
        ({"amount": 5, "softPercent": 0}, "softPercent"),
        ({"amount": 5, "softPercent": 101}, "softPercent"),
        ({"amount": 5, "killSwitch": "yes"}, "killSwitch"),
        ({"amount": 5, "userId": 2**31 - 1}, "userId"),
        ({"amount": 5, "colour": "red"}, "colour"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(
    admin: APIClient, body: dict[str, Any], path: str
) -> None:
    answer = create(admin, **body)

    assert answer.status_code == 422, answer.content
    assert [error["path"] for error in answer.json()["errors"]] == [path]
    assert not Budget.objects.exists()


def test_there_is_one_budget_for_each_spender_period_and_currency(
    admin: APIClient, member: Callable[..., Any]
) -> None:
    user = member("USER")
    first = {"amount": 5, "currency": "USD"}
    answers = [
        create(admin, **first),
        create(admin, **first, period="day"),
        create(admin, **first, userId=user.pk),
        create(admin, amount=5),
        create(admin, **first),
    ]

    assert [answer.status_code for answer in answers] == [201, 201, 201, 201, 409]
    assert answers[-1].json()["code"] == "budget_exists"


def test_a_list_of_many_budgets_takes_as_many_queries_as_one_of_few(
    admin: APIClient, member: Callable[..., Any]
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert len(admin.get("/v1/Budget").json()) == Budget.objects.count()
        return len(captured)

    create(admin, amount=5)
    few = queries()
    for number in range(20):
        create(admin, amount=5, userId=member("USER", name=f"user-{number}").pk)

    assert queries() == few


def test_a_spender_who_was_stopped_is_told_when_to_come_back(
    admin: APIClient, author: APIClient, greeting: dict[str, Any]
) -> None:
    made = create(admin, amount=5, currency="USD", killSwitch=True, period="day").json()
    spend(Budget.objects.get(), "5.25")
    known_limits.forget()

    answer = author.post(f"/v1/WorkflowExecution/{greeting['id']}/execute", {}, format="json")
    named = {"params": {"name": "Ada"}}
    answer = author.post(f"/v1/WorkflowExecution/{greeting['id']}/execute", named, format="json")

    told = answer.json()
    assert (answer.status_code, told["code"]) == (429, "budget_spent")
    assert 0 < int(answer["Retry-After"]) <= 86_400
    assert (told["budgetId"], told["spent"], told["amount"]) == (made["id"], "5.25", "5")
    assert "it resets at" in told["detail"]
    assert not WorkflowExecution.objects.exists()


def test_entries_are_listed_newest_first_and_narrowed(
    author: APIClient, ran: WorkflowExecution
) -> None:
    first, second = cost(ran), cost(ran, model="m-2", amount="0.00000012", user_id=7)

    rows = author.get("/v1/CostEntry").json()
    one = author.get("/v1/CostEntry", {"model": "m-1", "executionId": str(ran.pk)}).json()
    none = author.get("/v1/CostEntry", {"userId": 8}).json()

    assert [row["id"] for row in rows] == [str(second.pk), str(first.pk)]
    assert (rows[0]["amount"], rows[0]["tokens"]) == ("0.00000012", 10)
    assert [row["id"] for row in one] == [str(first.pk)]
    assert none == []


@pytest.mark.parametrize("group", ["principal", "workspace", "workflow", "model", "day"])
def test_sums_are_given_by_group_and_currency(
    author: APIClient, ran: WorkflowExecution, group: str
) -> None:
    cost(ran, amount=3)
    cost(ran, amount=4)
    cost(ran, amount=5, currency="EUR")
    cost(ran, created_at=database_now() - timedelta(days=40), amount=100)

    found = author.get("/v1/Spend", {"groupBy": group}).json()

    sums = {(row["currency"], row["amount"], row["tokens"], row["entries"]) for row in found}
    assert sums == {("USD", "7", 20, 2), ("EUR", "5", 10, 1)}
    keys = {
        "principal": "",
        "workspace": str(ran.workspace_id),
        "workflow": str(ran.workflow_id),
        "model": "m-1",
        "day": database_now().date().isoformat(),
    }
    assert {row["key"] for row in found} == {keys[group]}


def test_sums_may_reach_further_back(author: APIClient, ran: WorkflowExecution) -> None:
    now = database_now()
    cost(ran, created_at=now - timedelta(days=40), amount=100)
    given = {
        "groupBy": "model",
        "createdAfter": (now - timedelta(days=50)).isoformat(),
        "createdBefore": (now - timedelta(days=20)).isoformat(),
    }

    assert [row["amount"] for row in author.get("/v1/Spend", given).json()] == ["100"]
    backwards = given | {"createdBefore": (now - timedelta(days=60)).isoformat()}
    assert author.get("/v1/Spend", backwards).status_code == 422
    assert author.get("/v1/Spend").status_code == 422


def test_names_of_principals_are_for_administrators(
    author: APIClient, admin: APIClient, member: Callable[..., Any], ran: WorkflowExecution
) -> None:
    user = member("USER", name="grace")
    cost(ran, user_id=user.pk)

    [seen] = author.get("/v1/Spend", {"groupBy": "principal"}).json()
    [named] = admin.get("/v1/Spend", {"groupBy": "principal"}).json()

    assert (seen["key"], seen["name"]) == (str(user.pk), None)
    assert (named["key"], named["name"]) == (str(user.pk), "grace")


def test_another_workspaces_costs_are_not_in_the_sums(
    client_of: Callable[[Any], APIClient],
    member: Callable[..., Any],
    elsewhere: Workspace,
    ran: WorkflowExecution,
) -> None:
    cost(ran)

    there = client_of(member("ADMIN", elsewhere))

    assert there.get("/v1/Spend", {"groupBy": "model"}).json() == []


def test_periods_end_when_the_next_begins() -> None:
    now = database_now().replace(year=2026, month=1, day=31, hour=13)

    month, day = start_of("month", now, now), start_of("day", now, now)

    assert (month.isoformat()[:16], day.isoformat()[:16]) == (
        "2026-01-01T00:00", "2026-01-31T00:00",
    )  # fmt: skip
    assert str(end_of("month", month))[:10] == str(end_of("day", day))[:10] == "2026-02-01"
    assert (start_of("total", now, month), end_of("total", month)) == (month, None)
