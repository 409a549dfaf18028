"""A dead letter has been open for longer than the rule allows."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import OuterRef, QuerySet, Subquery

from dlq.public.models import DeadLetterEntry, FailureGroup, GroupStatus, Resolution
from valkyr_plugins.alerts.clipping import clipped
from valkyr_plugins.alerts.finding import Finding, page
from valkyr_plugins.alerts.models import AlertKind, AlertRule

# In these somebody decided to wait, or not to care.
QUIET = (GroupStatus.IGNORED, GroupStatus.SNOOZED)
# Groups that are looked at, those that were seen last left out first.
MOST = 10_000


def old_entries(rule: AlertRule, now: datetime) -> Iterator[Finding]:
    """The oldest open dead letter of the rule, if it is too old; two queries."""
    oldest = (
        DeadLetterEntry.objects.filter(group=OuterRef("pk"), resolution=Resolution.PENDING)
        .order_by("id")  # in the order of time, which the index has
        .values("id")[:1]
    )
    groups = _open_groups(rule).order_by("last_seen")[:MOST].annotate(oldest=Subquery(oldest))
    ids = [pk for pk in groups.values_list("oldest", flat=True) if pk is not None]
    if not ids:
        return
    entry = (
        DeadLetterEntry.objects.select_related("workflow")
        .only("id", "step_path", "quarantined_at", "workflow", "workflow__name")
        .get(pk=min(ids))
    )
    age = now - entry.quarantined_at
    if age <= timedelta(hours=rule.oldest_hours):
        return
    sentence = (
        f"A dead letter of {entry.workflow.name}, step {entry.step_path}, has been open for "
        f"{_hours(age)}; the limit is {rule.oldest_hours:g} h."
    )
    yield Finding(
        AlertKind.ENTRY_OLD,
        f"rule:{rule.pk}",
        clipped(sentence, 600),
        page("dlq_deadletterentry", entry.pk),
        {"deadLetterId": str(entry.pk), "quarantinedAt": entry.quarantined_at.isoformat()},
        rule.workspace_id,
        entry.workflow_id,
    )


def _open_groups(rule: AlertRule) -> QuerySet[FailureGroup]:
    groups = FailureGroup.objects.filter(open__gt=0, muted=False, merged_into=None)
    groups = groups.exclude(status__in=QUIET)
    if rule.workspace_id is not None:
        groups = groups.filter(workspace_id=rule.workspace_id)
    if rule.about_id is not None:
        groups = groups.filter(workflow_id=rule.about_id)
    return groups


def _hours(age: timedelta) -> str:
    hours = age / timedelta(hours=1)
    return f"{hours / 24:.0f} d" if hours >= 48 else f"{hours:.1f} h"
