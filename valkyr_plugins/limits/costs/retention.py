"""Entries of what steps cost go by their age alone, also beyond their executions."""

from datetime import datetime

from django.db.models import QuerySet

from dlq.public.retention import Aged, days
from valkyr_plugins.limits.models import CostEntry


def cost_days() -> float:
    """How long they stay."""
    return days("VALKYR_KEEP_COSTS_DAYS", 400)


def _costs(before: datetime) -> QuerySet[CostEntry]:
    return CostEntry.objects.filter(created_at__lt=before)


COSTS = Aged("costs", cost_days, _costs, "created_at", "created_at", "workspace_id", "workflow_id")
