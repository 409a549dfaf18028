"""Runs wait in a queue that no live worker serves."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import Q

from executions.public.configuration import OWN_QUEUES, limits
from executions.public.models import ExecutionState
from runners.public.models import Run, Runner, RunState
from valkyr_plugins.alerts.clipping import clipped
from valkyr_plugins.alerts.finding import Finding, page
from valkyr_plugins.alerts.models import AlertKind, AlertRule

# A worker gives a sign every 15 s; one that missed three is taken for gone.
SILENT = timedelta(seconds=50)
MOST = 1_000
# A queue that nobody serves: its name and, of a remote one, the workspace whose runners are meant.
Queue = tuple[str, UUID | None]


def unserved_queues(rule: AlertRule, now: datetime) -> Iterator[Finding]:
    """Those with work of the rule's; one query while each queue is served."""
    served = _served(now)
    waiting: Counter[Queue] = Counter()
    for name in sorted(OWN_QUEUES | limits().remote_queues):
        own = name in OWN_QUEUES
        if own and (name, None) in served:
            continue
        for workspace_id in _waiting(rule, name, now):
            if own or (name, workspace_id) not in served:
                waiting[name, None if own else workspace_id] += 1
    yield from (_finding(queue, many, rule) for queue, many in waiting.items())


def _served(now: datetime) -> set[Queue]:
    live = Runner.objects.filter(seen_at__gte=now - SILENT, leaving_at=None)
    return {
        (name, workspace_id)
        for workspace_id, names in live.values_list("workspace_id", "queues")
        for name in names
    }


def _waiting(rule: AlertRule, queue: str, now: datetime) -> list[UUID]:
    """The workspaces of runs that have waited there for too long, one by one; 1,000 at most."""
    since = now - timedelta(seconds=rule.waiting_seconds)
    rows = Run.objects.filter(
        Q(retry_after=None) | Q(retry_after__lt=since),
        state=RunState.PENDING,
        queue=queue,
        queued_at__lt=since,
        execution__state=ExecutionState.RUNNING,
    )
    if rule.workspace_id is not None:
        rows = rows.filter(execution__workspace_id=rule.workspace_id)
    if rule.about_id is not None:
        rows = rows.filter(execution__workflow_id=rule.about_id)
    return list(rows.order_by().values_list("execution__workspace_id", flat=True)[:MOST])


def _finding(queue: Queue, many: int, rule: AlertRule) -> Finding:
    name, workspace_id = queue
    count = f"{MOST:,} or more runs wait" if many >= MOST else _runs(many)
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
