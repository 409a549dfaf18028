"""Lists over full tables: a million executions, five million runs, forty workspaces of all sizes.

Every list of the API and of the admin is requested as a superuser, as a member of a large and of a
small workspace, and as a user with one granted workflow; each statement's plan is checked.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.filling import fill
from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS = 1_000_000
RUNS_EACH = 5
ASKED = 15
LARGE = ("executions_workflowexecution", "runners_run", "executions_activity")

API = {
    "listWorkflows": "/v1/Workflow",
    "listWorkflowExecutions": "/v1/WorkflowExecution",
    "… ?state=FAILED": "/v1/WorkflowExecution?state=FAILED",
    "… ?state=RUNNING": "/v1/WorkflowExecution?state=RUNNING",
    "listRuns": "/v1/Run",
    "… ?state=DLQ": "/v1/Run?state=DLQ",
    "listDeadLetterQueue": "/v1/DeadLetterQueue",
    "… ?resolution=PENDING": "/v1/DeadLetterQueue?resolution=PENDING",
    "listActivity": "/v1/Activity",
    "listEvents": "/v1/Event",
    "listTriggers": "/v1/Trigger",
}
ADMIN = {
    "admin: workflows": "/admin/executions/workflow/",
    "admin: executions": "/admin/executions/workflowexecution/",
    "admin: … failed": "/admin/executions/workflowexecution/?state=failed",
    "admin: runs": "/admin/runners/run/",
    "admin: … dead": "/admin/runners/run/?state=dead",
    "admin: approvals": "/admin/runners/approval/",
    "admin: dead letters": "/admin/dlq/deadletterentry/",
    "admin: activity": "/admin/executions/activity/",
}


@dataclass(frozen=True, slots=True)
class Listed:
    """One list as one user: milliseconds, and the faults of its plans."""

    name: str
    who: str
    status: int
    times: Quantiles
    faults: tuple[str, ...]


def measure(stage: Stage, options: Options) -> list[Listed]:
    """Fill the tables, then send the requests."""
    many = round(EXECUTIONS * options.scale)
    began = time.monotonic()
    fill(many, RUNS_EACH)
    say(f"{many:,} executions, {many * RUNS_EACH:,} runs in {time.monotonic() - began:.0f} s")
    return [_asked(name, who, ask) for who, asks in _people() for name, ask in asks]


def _people() -> Iterator[tuple[str, list[tuple[str, Callable[[], Any]]]]]:
    """Yield the callers, and their lists."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from rest_framework.test import APIClient

    from executions.models import Membership, Workflow, Workspace
    from tests.support.sharing import assign_perm

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    users = get_user_model().objects
    boss = users.create_superuser("boss")
    large = users.create_user("large", is_staff=True)
    small = users.create_user("small", is_staff=True)
    granted = users.create_user("granted", is_staff=True)
    first, last = Workspace.objects.get(slug="team-0"), Workspace.objects.get(slug="team-39")
    Membership.objects.create(user=large, workspace=first, role="ADMIN")
    Membership.objects.create(user=small, workspace=last, role="ADMIN")
    Membership.objects.create(user=granted, workspace=first, role="USER")
    assign_perm("read_workflow", granted, Workflow.objects.get(workspace=first))
    for who, user in (
        ("superuser", boss), ("large team", large), ("small team", small), ("granted", granted)
    ):  # fmt: skip
        api, pages = APIClient(), Client()
        api.force_authenticate(user)
        pages.force_login(user)
        yield (
            who,
            [
                *((name, _get(api, path)) for name, path in API.items()),
                *((name, _get(pages, path)) for name, path in ADMIN.items()),
            ],
        )


def _get(client: Any, path: str) -> Callable[[], Any]:
    return lambda: client.get(path)


def _asked(name: str, who: str, ask: Callable[[], Any]) -> Listed:
    from django.core.cache import cache
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    cache.clear()
    with CaptureQueriesContext(connection) as captured:
        status = ask().status_code
    faults = [fault for query in captured.captured_queries for fault in _faults(query["sql"])]
    times = []
    for _ in range(ASKED):
        cache.clear()
        began = time.perf_counter()
        ask()
        times.append(1000 * (time.perf_counter() - began))
    return Listed(name, who, status, quantiles(times), tuple(dict.fromkeys(faults)))


def _faults(sql: str) -> Iterator[str]:
    """Yield the operations of a plan that a statement must not do on a large table."""
    from django.db import connection

    if not sql.startswith("SELECT") or not any(table in sql for table in LARGE):
        return
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + sql.replace("%", "%%"), [])
        plan = "\n".join(row[0] for row in cursor.fetchall())
    for table in re.findall(r"Seq Scan on (\w+)", plan):
        if table in LARGE:
            yield f"sequential scan of {table}"
    if re.search(r"SELECT COUNT\(\*\)", sql) and "LIMIT" not in sql:
        yield "an unbounded COUNT(*)"
