"""Record each event as news, in the event's transaction; a task later turns news into alerts."""

import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.dispatch import receiver

from dlq.public.events import StoppedRedrive, group_new, group_regressed, redrive_stopped
from dlq.public.models import DeadLetterEntry, FailureGroup
from executions.public.addresses import page
from executions.public.conditions import ReportedCondition, condition_began
from executions.public.database import transaction
from executions.public.labels import parsed
from valkyr_plugins.alerts.decisions import clipped
from valkyr_plugins.alerts.lifecycle import Finding, notice, tell
from valkyr_plugins.alerts.models import AlertKind, AlertNews, AlertRule


def leave(finding: Finding) -> None:
    """Record a finding as news with one insert, without waiting for a lock."""
    assert finding.workspace_id is not None, "what happens, happens in a workspace"
    AlertNews.objects.create(
        kind=finding.kind,
        workspace_id=finding.workspace_id,
        workflow_id=finding.workflow_id,
        subject=finding.subject,
        sentence=finding.sentence[:1_000],
        path=finding.path[:500],
        details=dict(finding.details),
    )


def read(row: AlertNews) -> Finding:
    """Return the finding that is stored in a row of news."""
    return Finding(
        kind=AlertKind(row.kind),
        subject=row.subject,
        sentence=row.sentence,
        path=row.path,
        details=row.details,
        workspace_id=row.workspace_id,
        workflow_id=row.workflow_id,
    )


# Receives the signals of groups, redrives and plugins, and stores them as news.


@receiver(group_new)
def note_new_group(sender: Any, group_id: UUID, **_: Any) -> None:
    """Record a new failure group, unless the group is muted."""
    _note_group(AlertKind.GROUP_NEW, group_id, "New failure")


@receiver(group_regressed)
def note_regressed_group(sender: Any, group_id: UUID, version_number: int = 0, **_: Any) -> None:
    """Record that a resolved failure group has a new failure, unless the group is muted."""
    said = f"Occurred again in version {version_number}" if version_number else "Back"
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
    leave(
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
    """Record a redrive that stopped after too many failures, unless its group is muted."""
    group_id = stopped.group_id
    group = FailureGroup.objects.filter(pk=group_id).first() if group_id else None
    if group is not None and group.muted:
        return
    sentence = (
        f"A redrive of {stopped.total} dead letters by {stopped.created_by} stopped: "
        f"{stopped.reason or 'too many failed again'}"
    )
    leave(
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
    """Record a condition that a plugin reports about one of its objects."""
    leave(
        Finding(
            AlertKind(condition.kind),
            f"{condition.noun}:{condition.object_id}",
            clipped(condition.sentence, 600),
            condition.path,
            condition.details,
            condition.workspace_id,
        )
    )


# Convert news to alerts of the rules that want them, in the order of their arrival.


log = logging.getLogger(__name__)
BATCH = 500


def fold() -> int:
    """Process up to 500 rows of news; return the number of alerts with queued notifications."""
    wanted: dict[AlertRule, None] = {}
    with transaction.atomic():
        rows = list(AlertNews.objects.select_for_update(skip_locked=True).order_by("id")[:BATCH])
        for row in rows:
            wanted |= dict.fromkeys(_noticed(read(row)))
        AlertNews.objects.filter(pk__in=[row.pk for row in rows]).delete()
        return sum(tell(rule) for rule in wanted)


def wanting(finding: Finding) -> Iterable[AlertRule]:
    """Return the enabled rules that cover the finding's kind, workspace and workflow."""
    rules = AlertRule.objects.select_related("workspace").filter(
        enabled=True, kinds__contains=[finding.kind]
    )
    if finding.workspace_id is not None:
        rules = rules.filter(Q(workspace_id=finding.workspace_id) | Q(workspace=None))
    return rules.filter(Q(about=None) | Q(about_id=finding.workflow_id)).order_by("id")


# Maximum number of a group's newest dead letters that are searched for a rule's label.
MOST_LETTERS = 100


def _has_label(rule: AlertRule, finding: Finding) -> bool:
    """Return whether the rule's label is empty, or a recent dead letter of the group has it."""
    if not rule.label:
        return True
    name, value = parsed(rule.label)
    letters = DeadLetterEntry.objects.filter(group_id=finding.details.get("groupId"))
    newest = letters.order_by("-id").values_list("labels", flat=True)[:MOST_LETTERS]
    return any((labels or {}).get(name) == value for labels in newest)


def _noticed(finding: Finding) -> list[AlertRule]:
    """Raise the alerts of a finding; return the rules that report it.

    An error is logged and does not block later news.
    """
    try:
        with transaction.atomic():
            rules = [rule for rule in wanting(finding) if _has_label(rule, finding)]
            for rule in rules:
                notice(rule, finding)
    except Exception:
        log.exception(
            "could not raise alerts for %s %s; continuing with the others",
            finding.kind,
            finding.subject,
        )
        return []
    return rules
