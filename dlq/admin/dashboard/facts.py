"""The data of the home page, read within limits and cached for 15 seconds.

The cache key depends on the user's permissions and on the variants of the plugins' blocks.
"""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.cache import cache
from django.db.models import F, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest
from django.utils import timezone

from dlq.admin.dashboard.blocks import BLOCKS, SECTIONS
from dlq.models import DeadLetterEntry, FailureGroup, Resolution
from executions import replica
from executions.access.scoping import Scope
from executions.admin.changelist import BOUND, bounded_count
from executions.admin.scope import is_superuser, reach, scoped
from executions.database import routing
from executions.database.by_state import in_states
from executions.database.clock import first_id_at
from executions.database.time_limits import soon
from executions.models import Trigger, Workflow, WorkflowExecution, Workspace
from executions.states import Permission
from runners.models import Approval, Run, Runner
from runners.workers.queues import busy, queues

KEPT_SECONDS = 15
LATEST = 8
RUNNERS = 100
FAILED = ("FAILED", "TIMEOUT")
DAY = timedelta(hours=24)
Facts = dict[str, Any]


def collect(request: HttpRequest) -> Facts:
    """Return the page's facts, keyed by name; a fact not read in time is None."""
    scope = Scope.of(request.user, reach(request))
    variants = ":".join(block.variant(request) for block in BLOCKS.values())
    key = f"dashboard:{routing.cell()}:{variants}:{_reach_key(request, scope)}"
    kept: Facts | None = cache.get(key)
    if kept is None:
        kept = replica.read(request, lambda: _gather(request, scope))
        cache.set(key, kept, KEPT_SECONDS)
    return kept


def _gather(request: HttpRequest, scope: Scope) -> Facts:
    now = timezone.now()
    executions = scoped(request, WorkflowExecution.objects.all())
    runs = scoped(request, Run.objects.all())
    letters = scoped(request, DeadLetterEntry.objects.filter(resolution=Resolution.PENDING))
    workers = soon(lambda: _workers(request))
    queries: dict[str, Callable[[], Any]] = {
        **_present(executions, letters),
        "oldest": lambda: _oldest_letter(scope),
        "any": executions.exists,
        "failures": lambda: list(_latest(executions, now)),
        "queues": lambda: None if workers is None else queues(runs, workers, now),
        "paused": lambda: bounded_count(executions.filter(in_states("PAUSED"))),
        "approvals": lambda: _approvals(request),
        "busy": lambda: busy(runs),
        "groups": lambda: list(_groups(request, now)),
        "schedules": lambda: list(_schedules(request)),
    }
    return {
        "at": now,
        "workers": workers,
        "everything": scope.everything,
        "blocks": {name: soon(partial(one.gather, request)) for name, one in BLOCKS.items()},
        "plugged": {name: soon(partial(one.gather, request)) for name, one in SECTIONS.items()},
    } | {name: soon(query) for name, query in queries.items()}


def of_workflow(workflow: Workflow) -> Facts:
    """Return the data for the cards of one workflow; the caller checks that the user may see it."""
    # Also by workspace, which is the first column of the small indexes of live rows.
    its = {"workflow_id": workflow.pk, "workspace_id": workflow.workspace_id}
    letters = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING, **its)
    ages = letters.order_by("quarantined_at").values_list("quarantined_at", flat=True)
    queries = _present(WorkflowExecution.objects.filter(**its), letters) | {"oldest": ages.first}
    return {name: soon(query) for name, query in queries.items()}


def _present(
    executions: QuerySet[WorkflowExecution], letters: QuerySet[DeadLetterEntry]
) -> dict[str, Callable[[], Any]]:
    return {
        "running": lambda: bounded_count(executions.filter(in_states("RUNNING"))),
        "waiting": lambda: bounded_count(executions.filter(in_states("PENDING"))),
        "first_waiting": lambda: _first_waiting(executions),
        "open": lambda: bounded_count(letters),
    }


def _first_waiting(executions: QuerySet[WorkflowExecution]) -> Any:
    """Return the earliest creation time of at most 10,000 waiting executions, or None.

    Without this limit, PostgreSQL might read all executions in the order of their creation.
    """
    some = executions.filter(in_states("PENDING")).order_by().values("pk")[:BOUND]
    return WorkflowExecution.objects.filter(pk__in=some).aggregate(at=Min("created_at"))["at"]


def _oldest_letter(scope: Scope) -> Any:
    """Return the time of the oldest open dead letter, or None, using one lookup per workspace."""
    pending = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING)
    first = pending.filter(workspace=OuterRef("pk")).order_by("quarantined_at")
    rows = Workspace.objects.all()
    if not scope.everything:
        rows = rows.filter(pk__in=scope.workspaces)
    found = rows.annotate(first=Subquery(first.values("quarantined_at")[:1]))
    ages = [found.aggregate(at=Min("first"))["at"]]
    if scope.workflows:
        ages.append(
            pending.filter(workflow__in=scope.workflows).aggregate(at=Min("quarantined_at"))["at"]
        )
    return min((at for at in ages if at is not None), default=None)


def _latest(executions: QuerySet[WorkflowExecution], now: Any) -> QuerySet[WorkflowExecution]:
    failed = executions.filter(in_states(*FAILED), pk__gte=first_id_at(now - DAY))
    return (
        failed.select_related("workflow")
        .only("id", "state", "error_message", "finished_at", "workflow__name")
        .order_by("-pk")[:LATEST]
    )


def _approvals(request: HttpRequest) -> int:
    waiting = Approval.objects.filter(in_states("WAITING"))
    return bounded_count(scoped(request, waiting))


def _workers(request: HttpRequest) -> list[Runner]:
    """Return the 100 most recently seen workers and remote runners that the user may see."""
    rows = Runner.objects.order_by("-seen_at")
    if not is_superuser(request):
        rows = rows.filter(Q(workspace=None) | Q(workspace__in=list(reach(request).members)))
    return list(rows[:RUNNERS])


def _groups(request: HttpRequest, now: Any) -> QuerySet[Any]:
    """Return at most `LATEST` groups with failures in the last day, the fastest-growing first."""
    rows = FailureGroup.objects.filter(merged_into=None, last_seen__gte=now - 2 * DAY)
    grown: QuerySet[Any] = scoped(request, rows).annotate(
        lately=Coalesce(Sum("hours__count", filter=Q(hours__hour__gte=now - DAY)), 0),
        earlier=Coalesce(
            Sum(
                "hours__count",
                filter=Q(hours__hour__lt=now - DAY, hours__hour__gte=now - 2 * DAY),
            ),
            0,
        ),
    )
    more = grown.filter(lately__gt=0).annotate(growth=F("lately") - F("earlier"))
    chosen: QuerySet[Any] = more.select_related("workflow")
    return chosen.order_by("-growth", "-lately", "-id")[:LATEST]


def _schedules(request: HttpRequest) -> QuerySet[Trigger]:
    rows = scoped(request, Trigger.objects.filter(enabled=True, next_at__isnull=False))
    return rows.select_related("workflow").order_by("next_at")[:LATEST]


def _reach_key(request: HttpRequest, scope: Scope) -> str:
    """Return the part of the cache key that represents the user's permissions."""
    configures = () if scope.everything else reach(request).workspaces(Permission.CONFIGURE)
    members = () if scope.everything else sorted(reach(request).members)
    said = repr((scope, configures, members))
    return hashlib.sha256(said.encode()).hexdigest()[:32]
