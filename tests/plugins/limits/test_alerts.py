"""Alert rules report spent budgets, and their recovery."""

from decimal import Decimal

import pytest
from django.urls import resolve

from executions.database.clock import database_now
from executions.events import LASTING
from executions.public import addresses
from tests.support.alerts import rule
from tests.support.workflows import ACTOR, default_workspace
from valkyr_plugins.alerts.models import Alert, AlertState
from valkyr_plugins.alerts.news import fold
from valkyr_plugins.alerts.watching import watch
from valkyr_plugins.limits.budget_enforcement import tell
from valkyr_plugins.limits.budgets import BUDGETS, start_of
from valkyr_plugins.limits.models import Budget, BudgetUse

pytestmark = pytest.mark.django_db


@pytest.fixture
def told() -> Budget:
    """Create a spent budget that was reported."""
    rule()
    facts = {"period": "month", "currency": "USD", "amount": Decimal(10)}
    made = BUDGETS.create(default_workspace(), facts, user_id=None, actor=ACTOR)
    begun = start_of("month", database_now(), made.created_at)
    BudgetUse.objects.create(budget=made, starts_at=begun, spent=12)
    tell(made.pk, begun, Decimal(12))
    fold()
    return made


def opened() -> list[str]:
    return list(Alert.objects.filter(state=AlertState.OPEN).values_list("kind", flat=True))


def test_a_spent_budget_is_told_of_with_a_link_to_its_page(told: Budget) -> None:
    (alert,) = Alert.objects.all()

    assert alert.kind == "BUDGET_SPENT"
    assert alert.subject == f"budget:{told.pk}"
    slug = told.workspace.slug
    assert alert.sentence == f"A budget of {slug} is spent: 12 of 10 USD this month."
    assert resolve(addresses.shown_page(alert.path)).kwargs == {"object_id": str(told.pk)}


def test_it_is_over_once_the_budget_is_raised(told: Budget) -> None:
    assert watch()["over"] == 0
    BUDGETS.change(told.pk, {"amount": Decimal(100)}, actor=ACTOR)

    assert watch()["over"] == 1
    assert opened() == []


def test_it_is_over_where_the_plugin_is_left_out(
    told: Budget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(LASTING, "BUDGET_SPENT")

    assert watch()["over"] == 1
    assert opened() == []
