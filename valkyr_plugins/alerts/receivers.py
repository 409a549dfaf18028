"""Hears what groups, redrives and plugins say, and leaves it as news."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from dlq.public.events import StoppedRedrive, group_new, group_regressed, redrive_stopped
from dlq.public.models import FailureGroup
from executions.public.conditions import ReportedCondition, condition_began
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
def note_stopped_redrive(sender: Any, stopped: StoppedRedrive, **_: Any) -> None:
    """Too many entries of a redrive failed again."""
    group_id = stopped.group_id
    group = FailureGroup.objects.filter(pk=group_id).first() if group_id else None
    if group is not None and group.muted:
        return
    sentence = (
        f"A redrive of {stopped.total} dead letters by {stopped.created_by} stopped: "
        f"{stopped.reason or 'too many failed again'}"
    )
    news.leave(
        Finding(
            AlertKind.REDRIVE_STOPPED,
            f"redrive:{stopped.redrive_id}",
            clipped(sentence, 600),
            stopped.path,
            {
                "redriveId": str(stopped.redrive_id),
                "reason": stopped.reason,
                "total": stopped.total,
            },
            stopped.workspace_id,
            None if group is None else group.workflow_id,
        )
    )


@receiver(condition_began)
def note_condition(sender: Any, condition: ReportedCondition, **_: Any) -> None:
    """A plugin's object is in a condition of which people are told."""
    news.leave(
        Finding(
            AlertKind(condition.kind),
            f"{condition.noun}:{condition.object_id}",
            clipped(condition.sentence, 600),
            condition.path,
            condition.details,
            condition.workspace_id,
        )
    )
