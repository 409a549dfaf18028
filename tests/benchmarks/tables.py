"""Lists over full tables: a million executions, five million runs, forty workspaces of all sizes.

Every list of the API and of the admin is asked for as a superuser, as a member of a large and of a
small workspace, and as somebody who was granted one workflow; each statement's plan is looked at.
"""

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS = 1_000_000
RUNS_EACH = 5
WORKSPACES = 40
ASKED = 15
LARGE = ("executions_workflowexecution", "runners_run", "executions_activity")

FILL_EXECUTIONS = """
INSERT INTO executions_workflowexecution
SELECT r.*
  FROM generate_series(1, %(many)s) AS n
 CROSS JOIN LATERAL (SELECT random() AS luck,
                            clock_timestamp()
                            - interval '30 days' * (1 - n::float / %(many)s) AS at,
                            floor(%(places)s * power(random(), 3))::int AS place
                    ) AS x
  JOIN bench_template AS t ON t.place = x.place
 CROSS JOIN LATERAL jsonb_populate_record(
       t.execution, jsonb_build_object(
           'id', uuidv7(x.at - clock_timestamp()), 'created_at', x.at, 'started_at', x.at,
           'finished_at', x.at + interval '1 second', 'idempotency_key', NULL,
           'state', CASE WHEN x.luck < 0.95 THEN 'SUCCESS' WHEN x.luck < 0.98 THEN 'FAILED'
                         WHEN x.luck < 0.99 THEN 'CANCELLED' ELSE 'TIMEOUT' END)) AS r
"""
FILL_RUNS = """
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, outcome, error, error_type, publications, queued_at, started_at,
    finished_at, due_at, published_at, cost_tokens, cost_amount)
SELECT uuidv7(e.created_at - clock_timestamp()), e.id, 0, 's' || n, 's' || n || '.main',
       md5('s' || n)::uuid, md5('m')::uuid, 'data.set', 1, 1,
       CASE WHEN e.state = 'FAILED' AND n = %(each)s THEN 'DLQ' ELSE 'SUCCESS' END, false,
       'default', 5, 1, 'worker@box|1', 0, '', '', '', 'success', '', '', 1, e.created_at,
       e.created_at, e.finished_at, NULL, e.created_at, 0, 0
  FROM executions_workflowexecution AS e CROSS JOIN generate_series(1, %(each)s) AS n
 WHERE e.finished_at IS NOT NULL
"""
FILL_LETTERS = """
INSERT INTO dlq_deadletterentry (
    id, workspace_id, workflow_id, execution_id, run_id, task_id, step_path, failure_reason,
    failure_type, fingerprint, quarantined_at, resolution, notes, module, error_type,
    attempts)
SELECT gen_random_uuid(), e.workspace_id, e.workflow_id, e.id, r.id, r.task_id, r.step_path, 'gone',
       'MAX_RETRIES', md5((random() * 500)::int::text), e.finished_at, 'PENDING', '', r.module,
       '', 3
  FROM runners_run AS r JOIN executions_workflowexecution AS e ON e.id = r.execution_id
 WHERE r.state = 'DLQ'
"""
FILL_ACTIVITY = """
INSERT INTO executions_activity (
    id, workspace_id, actor_name, via, action, object_type, object_id, reason, details, created_at)
SELECT uuidv7(created_at - clock_timestamp()), workspace_id, 'ada', 'api', 'execution.start',
       'WorkflowExecution', id::text, '', '{}', created_at
  FROM executions_workflowexecution
"""
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
    """One list as one person: milliseconds, and what its plans do wrong."""

    name: str
    who: str
    status: int
    times: Quantiles
    faults: tuple[str, ...]


def measure(stage: Stage, options: Options) -> list[Listed]:
    """Fill the tables, then ask."""
    many = round(EXECUTIONS * options.scale)
    began = time.monotonic()
    _fill(many)
    say(f"{many:,} executions, {many * RUNS_EACH:,} runs in {time.monotonic() - began:.0f} s")
    return [_asked(name, who, ask) for who, asks in _people() for name, ask in asks]


def _fill(many: int) -> None:
    from django.db import connection

    from executions import publishing
    from executions.actor import Actor
    from executions.models import Tier, Workspace
    from executions.triggers.start import start_execution
    from tests.benchmarks import shapes

    actor = Actor.system("bench")
    tier = Tier.objects.get(name="unlimited")
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET synchronous_commit = off")
        cursor.execute(
            "CREATE TABLE bench_template (place int, execution executions_workflowexecution)"
        )
        for place in range(WORKSPACES):
            workspace = Workspace.objects.create(slug=f"team-{place}", name=f"T{place}", tier=tier)
            workflow = publishing.create_workflow(
                workspace,
                name=f"flow {place}",
                definition=shapes.single("data.set", {"values": {"n": 1}}),
                actor=actor,
            )
            publishing.publish(workflow.pk, actor=actor)
            workflow.refresh_from_db()
            start_execution(workflow, {}, actor=actor)
            cursor.execute(
                "INSERT INTO bench_template SELECT %s, e FROM executions_workflowexecution e "
                "WHERE workflow_id = %s",
                [place, workflow.pk],
            )
        sizes = {"many": many, "places": WORKSPACES, "each": RUNS_EACH}
        for statement in (FILL_EXECUTIONS, FILL_RUNS, FILL_LETTERS, FILL_ACTIVITY):
            cursor.execute(statement, sizes)
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("RESET statement_timeout")


def _people() -> Iterator[tuple[str, list[tuple[str, Callable[[], Any]]]]]:
    """Who asks, and their lists."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from guardian.shortcuts import assign_perm
    from rest_framework.test import APIClient

    from executions.models import Membership, Workflow, Workspace

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
    """What a statement does that it must not do on a large table."""
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
