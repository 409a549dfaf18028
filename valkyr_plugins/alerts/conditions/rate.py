"""A workflow fails far more often than at the same hour of the days before."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet, Sum

from dlq.public.models import GroupHour, GroupStatus
from executions.public.models import Workflow
from valkyr_plugins.alerts.baseline import hours, is_high, rate
from valkyr_plugins.alerts.clipping import clipped
from valkyr_plugins.alerts.finding import Finding
from valkyr_plugins.alerts.models import AlertKind, AlertRule

# Workflows of one rule that are looked at, those with the most failures first.
MOST = 200


def high_rates(rule: AlertRule, now: datetime) -> Iterator[Finding]:
    """The workflows of the rule that do; two queries, three where there are some."""
    wanted = sorted(hours(now))
    recent = (
        _counted(rule, wanted[-2:])
        .values("group__workflow_id")
        .annotate(many=Sum("count"))
        .filter(many__gte=rule.rate_least)
        .order_by("-many")
    )
    suspects = list(recent.values_list("group__workflow_id", flat=True)[:MOST])
    if not suspects:
        return
    counts: dict[UUID, dict[datetime, int]] = defaultdict(dict)
    rows = _counted(rule, wanted).filter(group__workflow_id__in=suspects)
    for pk, hour, many in rows.values_list("group__workflow_id", "hour").annotate(Sum("count")):
        counts[pk][hour] = many
    for workflow in Workflow.objects.filter(pk__in=suspects).order_by("id"):
        found = rate(counts[workflow.pk], now)
        if is_high(found, factor=rule.rate_factor, least=rule.rate_least):
            yield _finding(workflow, found.recent, found.usual)


def _counted(rule: AlertRule, wanted: list[datetime]) -> QuerySet[GroupHour]:
    """The hours' counts that the rule is about, without groups that are to be quiet."""
    rows = GroupHour.objects.filter(hour__in=wanted, group__muted=False).exclude(
        group__status=GroupStatus.IGNORED
    )
    if rule.workspace_id is not None:
        rows = rows.filter(group__workspace_id=rule.workspace_id)
    if rule.about_id is not None:
        rows = rows.filter(group__workflow_id=rule.about_id)
    return rows.order_by()


def _finding(workflow: Workflow, recent: float, usual: float) -> Finding:
    sentence = (
        f"{workflow.name} had about {recent:,.0f} failures in the last hour; "
        f"{usual:,.0f} are usual at this time."
    )
    return Finding(
        AlertKind.RATE_HIGH,
        f"workflow:{workflow.pk}",
        clipped(sentence, 600),
        f"/admin/dlq/failuregroup/?workflow={workflow.pk}",
        {"workflowId": str(workflow.pk), "recent": round(recent, 1), "usual": round(usual, 1)},
        workflow.workspace_id,
        workflow.pk,
    )
