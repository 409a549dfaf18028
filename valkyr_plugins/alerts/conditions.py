"""Find lasting conditions, which are checked repeatedly.

Each function returns a rule's current findings; an open alert without a finding is closed.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum

from dlq.public.models import DeadLetterEntry, FailureGroup, GroupHour, GroupStatus, Resolution
from executions.public.addresses import page
from executions.public.configuration import OWN_QUEUES, limits, settings
from executions.public.database import in_states
from executions.public.labels import parsed
from executions.public.models import ExecutionState, Workflow
from runners.public.models import Run, Runner, RunState
from valkyr_plugins.alerts.decisions import clipped, hours, is_high, rate
from valkyr_plugins.alerts.lifecycle import Finding
from valkyr_plugins.alerts.models import AlertKind, AlertRule

# Condition: a workflow fails far more often than at the same hour of the previous days.


# Maximum number of workflows that are checked for one rule, those with the most failures first.
MOST_WORKFLOWS = 200


def high_rates(rule: AlertRule, now: datetime) -> Iterator[Finding]:
    """Yield a finding for each workflow whose failure rate is too high for the rule.

    Checks at most 200 workflows. Uses one query, or three if a workflow had enough failures.
    """
    wanted = sorted(hours(now))
    recent = (
        _counted(rule, wanted[-2:])
        .values("group__workflow_id")
        .annotate(many=Sum("count"))
        .filter(many__gte=rule.rate_least)
        .order_by("-many")
    )
    suspects = list(recent.values_list("group__workflow_id", flat=True)[:MOST_WORKFLOWS])
    if not suspects:
        return
    counts: dict[UUID, dict[datetime, int]] = defaultdict(dict)
    rows = _counted(rule, wanted).filter(group__workflow_id__in=suspects)
    for pk, hour, many in rows.values_list("group__workflow_id", "hour").annotate(Sum("count")):
        counts[pk][hour] = many
    for workflow in Workflow.objects.filter(pk__in=suspects).order_by("id"):
        found = rate(counts[workflow.pk], now)
        if is_high(found, factor=rule.rate_factor, least=rule.rate_least):
            yield _rate_finding(workflow, found.recent, found.usual)


def _counted(rule: AlertRule, wanted: list[datetime]) -> QuerySet[GroupHour]:
    """Return the rule's failure counts in these hours, without muted and ignored groups."""
    rows = GroupHour.objects.filter(hour__in=wanted, group__muted=False).exclude(
        group__status=GroupStatus.IGNORED
    )
    if rule.workspace_id is not None:
        rows = rows.filter(group__workspace_id=rule.workspace_id)
    if rule.about_id is not None:
        rows = rows.filter(group__workflow_id=rule.about_id)
    return rows.order_by()


def _rate_finding(workflow: Workflow, recent: float, usual: float) -> Finding:
    sentence = (
        f"{workflow.name} had about {recent:,.0f} failures in the last hour; "
        f"{usual:,.0f} are usual at this time."
    )
    return Finding(
        AlertKind.RATE_HIGH,
        f"workflow:{workflow.pk}",
        clipped(sentence, 600),
        page("dlq_failuregroup", workflow=workflow.pk),
        {"workflowId": str(workflow.pk), "recent": round(recent, 1), "usual": round(usual, 1)},
        workflow.workspace_id,
        workflow.pk,
    )


# Condition: a dead letter has been open for longer than the rule allows.


# Statuses with which a user decided to wait or to ignore the group.
QUIET = (GroupStatus.IGNORED, GroupStatus.SNOOZED)
# Maximum number of groups that are checked, those whose last failure is oldest first.
MOST_GROUPS = 10_000


def old_entries(rule: AlertRule, now: datetime) -> Iterator[Finding]:
    """Yield a finding if the rule's oldest open dead letter is too old. Uses up to two queries."""
    found = _oldest_labelled(rule) if rule.label else _oldest_open(rule)
    if found is None:
        return
    entry = (
        DeadLetterEntry.objects.select_related("workflow")
        .only("id", "step_path", "quarantined_at", "workflow", "workflow__name")
        .get(pk=found)
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


def _oldest_open(rule: AlertRule) -> UUID | None:
    oldest = (
        DeadLetterEntry.objects.filter(group=OuterRef("pk"), resolution=Resolution.PENDING)
        .order_by("id")  # the order of time, and of the index
        .values("id")[:1]
    )
    groups = (
        _open_groups(rule).order_by("last_seen")[:MOST_GROUPS].annotate(oldest=Subquery(oldest))
    )
    ids = [pk for pk in groups.values_list("oldest", flat=True) if pk is not None]
    return min(ids, default=None)


def _oldest_labelled(rule: AlertRule) -> UUID | None:
    """Return the ID of the oldest labelled open dead letter in up to 10,000 groups, or None."""
    groups = _open_groups(rule).order_by("last_seen").values("pk")[:MOST_GROUPS]
    name, value = parsed(rule.label)
    rows = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING, group__in=groups)
    rows = rows.filter(labels__contains={name: value})
    return rows.order_by("id").values_list("pk", flat=True).first()


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


# Condition: runs wait in a queue that no live worker serves.


MOST_QUEUES = 1_000
# Maximum number of waiting runs whose queues are read. Configured queues are always checked.
MOST_NAMED = 50_000
MOST_OTHERS = 100  # maximum number of queues besides those in the settings
# A queue without workers: its name and, for a remote queue, the workspace of its runners.
Queue = tuple[str, UUID | None]


def unserved_queues(rule: AlertRule, now: datetime) -> Iterator[Finding]:
    """Yield a finding for each queue in which runs have waited too long without a worker.

    A remote queue has a finding per workspace. Only runs that the rule covers count. Uses two
    queries, and one more for each remote queue and each queue without a worker.
    """
    served = _served(now)
    remote = limits().remote_queues
    waiting: Counter[Queue] = Counter()
    for name in sorted(_names() | remote):
        far = name in remote
        if not far and (name, None) in served:
            continue
        for workspace_id in _waiting(rule, name, now):
            if not far or (name, workspace_id) not in served:
                waiting[name, workspace_id if far else None] += 1
    yield from (_queue_finding(queue, many, rule) for queue, many in waiting.items())


def _names() -> set[str]:
    """Return the configured queues of workers, and at most 100 others in which runs wait."""
    some = Run.objects.filter(in_states(RunState.PENDING)).order_by().values("pk")[:MOST_NAMED]
    found = Run.objects.filter(pk__in=some).order_by().values_list("queue", flat=True)
    known = {*OWN_QUEUES, *settings().celery_queues}
    return known.union(found.exclude(queue__in=known).distinct()[:MOST_OTHERS])


def _served(now: datetime) -> set[Queue]:
    live = Runner.objects.live(now)
    return {
        (name, workspace_id)
        for workspace_id, names in live.values_list("workspace_id", "queues")
        for name in names
    }


def _waiting(rule: AlertRule, queue: str, now: datetime) -> list[UUID]:
    """Return the workspace ID of each run that has waited too long in the queue; at most 1,000."""
    since = now - timedelta(seconds=rule.waiting_seconds)
    rows = Run.objects.filter(
        Q(retry_after=None) | Q(retry_after__lt=since),
        in_states(RunState.PENDING),
        queue=queue,
        queued_at__lt=since,
        execution__state=ExecutionState.RUNNING,
    )
    if rule.workspace_id is not None:
        rows = rows.filter(execution__workspace_id=rule.workspace_id)
    if rule.about_id is not None:
        rows = rows.filter(execution__workflow_id=rule.about_id)
    return list(rows.order_by().values_list("execution__workspace_id", flat=True)[:MOST_QUEUES])


def _queue_finding(queue: Queue, many: int, rule: AlertRule) -> Finding:
    name, workspace_id = queue
    count = f"{MOST_QUEUES:,} or more runs wait" if many >= MOST_QUEUES else _runs(many)
    who = "no worker" if workspace_id is None else "no remote runner"
    sentence = (
        f"{count} in queue {name}, which {who} serves, for more than {rule.waiting_seconds:,} s."
    )
    return Finding(
        AlertKind.NO_WORKER,
        f"queue:{name}" if workspace_id is None else f"queue:{name}:{workspace_id}",
        clipped(sentence, 600),
        page("runners_runner"),
        {"queue": name, "waiting": many},
        workspace_id or rule.workspace_id,
        rule.about_id,
    )


def _runs(many: int) -> str:
    return "1 run waits" if many == 1 else f"{many:,} runs wait"
