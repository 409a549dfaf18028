"""Hears what groups, redrives, circuits and budgets say, and leaves it as news."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from dlq.public.events import group_new, group_regressed, redrive_stopped
from dlq.public.models import FailureGroup, Redrive
from executions.public.models import Workspace
from runners.public.budgets import SOFT, amount, plain
from runners.public.events import budget_reached, circuit_opened
from runners.public.models import Budget
from valkyr_plugins.alerts import news
from valkyr_plugins.alerts.clipping import clipped
from valkyr_plugins.alerts.finding import Finding, page
from valkyr_plugins.alerts.models import AlertKind


@receiver(group_new)
def note_new_group(sender: Any, group_id: UUID, **_: Any) -> None:
    """Failures of a kind that was never seen before."""
    _note_group(AlertKind.GROUP_NEW, group_id, "New failure")


@receiver(group_regressed)
def note_regressed_group(sender: Any, group_id: UUID, version_number: int = 0, **_: Any) -> None:
    """A failure that was resolved is seen again."""
    said = f"Back in version {version_number}" if version_number else "Back"
    _note_group(AlertKind.GROUP_REGRESSED, group_id, said, version=version_number)


def _note_group(kind: AlertKind, group_id: UUID, said: str, **details: Any) -> None:
    group = FailureGroup.objects.select_related("workflow").filter(pk=group_id).first()
    if group is None or group.muted:
        return
    failure = ": ".join(filter(None, (group.exception, group.message))) or "failure"
    sentence = f"{said} in {group.workflow.name}, step {group.place}: {failure}"
    details |= {
        "groupId": str(group.pk),
        "workflowId": str(group.workflow_id),
        "step": group.place,
        "exception": group.exception,
        "message": group.message,
    }
    news.leave(
        Finding(
            kind,
            f"group:{group.pk}",
            clipped(sentence, 600),
            page("dlq_failuregroup", group.pk),
            details,
            group.workspace_id,
            group.workflow_id,
        )
    )


@receiver(redrive_stopped)
def note_stopped_redrive(sender: Any, redrive_id: UUID, reason: str = "", **_: Any) -> None:
    """Too many entries of a redrive failed again."""
    redrive = Redrive.objects.select_related("group").filter(pk=redrive_id).first()
    if redrive is None or (redrive.group is not None and redrive.group.muted):
        return
    sentence = (
        f"A redrive of {redrive.total} dead letters by {redrive.created_by_name} stopped: "
        f"{reason or redrive.stop_reason or 'too many failed again'}"
    )
    news.leave(
        Finding(
            AlertKind.REDRIVE_STOPPED,
            f"redrive:{redrive.pk}",
            clipped(sentence, 600),
            page("dlq_redrive", redrive.pk),
            {"redriveId": str(redrive.pk), "reason": reason, "total": redrive.total},
            redrive.workspace_id,
            None if redrive.group is None else redrive.group.workflow_id,
        )
    )


@receiver(circuit_opened)
def note_open_circuit(
    sender: Any, breaker_id: UUID, workspace_id: UUID, target: str, **_: Any
) -> None:
    """Steps that call a target wait until it answers again."""
    news.leave(
        Finding(
            AlertKind.CIRCUIT_OPEN,
            f"circuit:{breaker_id}",
            clipped(f"The circuit of {target} opened: its steps wait until it answers.", 600),
            page("runners_circuitbreaker", breaker_id),
            {"circuitId": str(breaker_id), "target": target},
            workspace_id,
        )
    )


@receiver(budget_reached)
def note_budget(sender: Any, budget: Budget, what: str, spent: Decimal, **_: Any) -> None:
    """A budget's threshold was passed, or all of it is spent."""
    soft = what == SOFT
    whose = Workspace.objects.values_list("slug", flat=True).get(pk=budget.workspace_id)
    limit = amount(Decimal(budget.amount), budget.currency)
    period = "in all" if budget.period == "total" else f"this {budget.period}"
    said = "nearly spent" if soft else "spent"
    news.leave(
        Finding(
            AlertKind.BUDGET_SOFT if soft else AlertKind.BUDGET_SPENT,
            f"budget:{budget.pk}",
            f"A budget of {whose} is {said}: {plain(spent)} of {limit} {period}.",
            page("runners_budget", budget.pk),
            {"budgetId": str(budget.pk), "spent": plain(spent), "amount": limit},
            budget.workspace_id,
        )
    )
