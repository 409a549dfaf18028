"""Costs of steps are stored longer than their executions, and deleted in time."""

from datetime import timedelta

import pytest
from django.utils import timezone

from dlq.retention.pruning import turn
from runners.models import Run
from tests.support import admin_rows
from tests.support.aging import aged
from valkyr_plugins.limits.models import CostEntry

pytestmark = pytest.mark.django_db


def test_costs_outlive_their_execution() -> None:
    orders = admin_rows.workflow()
    old = aged(orders, 100)
    spent = {
        "workspace_id": orders.workspace_id, "workflow": orders, "execution": old,
        "run_id": Run.objects.filter(execution=old)[0].pk, "module": "ai.chat", "currency": "USD",
    }  # fmt: skip
    CostEntry.objects.create(**spent)
    ancient = CostEntry.objects.create(**spent)
    CostEntry.objects.filter(pk=ancient.pk).update(created_at=timezone.now() - timedelta(days=500))

    counts = turn().counts

    assert (counts["executions"], counts["costs"]) == (1, 1)
    assert CostEntry.objects.get().execution_id == old.pk
