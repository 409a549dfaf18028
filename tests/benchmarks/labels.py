"""Lists, counts and dead letters by label over ten million executions (`--scale 0.1`: a million).

A customer called `big` has a million executions (90 % of a million), `quiet` has 5 % and never
fails, and each order is one execution. The target is 300 ms at the 95th percentile. Ten million
need 8 GB of disk.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from tests.benchmarks import filling
from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS = 10_000_000
BIG = 1_000_000
ASKED = 40
TARGET_MS = 300
LABELS = """jsonb_build_object(
    'customer', CASE WHEN x.luck < 0.05 THEN 'quiet' WHEN random() < {share} THEN 'big'
                     ELSE 'c' || n %% 100000 END,
    'order', 'o' || n)"""
FILL_LABELS = """
INSERT INTO executions_executionlabel (execution_id, workspace_id, workflow_id, state, name, value)
SELECT e.id, e.workspace_id, e.workflow_id, e.state, l.key, l.value
  FROM executions_workflowexecution AS e CROSS JOIN jsonb_each_text(e.labels) AS l
 WHERE e.labels IS NOT NULL AND e.id >= %(first)s AND e.id < %(last)s
"""
EXECUTION_LIST, LETTERS, GROUPS = "/v1/WorkflowExecution", "/v1/DeadLetterQueue", "/v1/FailureGroup"
PAGE = "/admin/executions/workflowexecution/"
LETTER_PAGE, GROUP_PAGE = "/admin/dlq/deadletterentry/", "/admin/dlq/failuregroup/"
BOTH = json.dumps({"customer": "big", "order": "o4711"})
API: dict[str, tuple[str, dict[str, str]]] = {
    "big": (EXECUTION_LIST, {"label": "customer:big"}),
    "big, oldest first": (EXECUTION_LIST, {"label": "customer:big", "order": "asc"}),
    "big, failed": (EXECUTION_LIST, {"label": "customer:big", "state": "FAILED"}),
    "big, running": (EXECUTION_LIST, {"label": "customer:big", "state": "RUNNING"}),
    "big, one workflow": (EXECUTION_LIST, {"label": "customer:big", "workflowId": "{workflow}"}),
    "big, workflow, failed": (
        EXECUTION_LIST,
        {"label": "customer:big", "workflowId": "{workflow}", "state": "FAILED"},
    ),
    "big, by webhook (none)": (
        EXECUTION_LIST,
        {"label": "customer:big", "triggerType": "WEBHOOK"},
    ),
    "quiet, failed (none)": (EXECUTION_LIST, {"label": "customer:quiet", "state": "FAILED"}),
    "a rare customer": (EXECUTION_LIST, {"label": "customer:c4711"}),
    "one order": (EXECUTION_LIST, {"label": "order:o4711"}),
    "two labels": (EXECUTION_LIST, {"label": BOTH}),
    "unknown": (EXECUTION_LIST, {"label": "customer:unknown"}),
    "counts": (f"{EXECUTION_LIST}/labels", {"name": "customer"}),
    "counts, failed": (f"{EXECUTION_LIST}/labels", {"name": "customer", "state": "FAILED"}),
    "dead letters, big": (LETTERS, {"label": "customer:big"}),
    "dead letters, big, open": (LETTERS, {"label": "customer:big", "resolution": "PENDING"}),
    "dead letters, quiet (none)": (LETTERS, {"label": "customer:quiet"}),
    "dead letters, rare": (LETTERS, {"label": "customer:c4711"}),
    "dead letters, counts": (f"{LETTERS}/labels", {"name": "customer"}),
    "groups, big": (GROUPS, {"label": "customer:big"}),
}
ADMIN: dict[str, tuple[str, dict[str, str]]] = {
    "admin: big": (PAGE, {"label": "customer:big"}),
    "admin: big, failed": (PAGE, {"label": "customer:big", "state": "failed"}),
    "admin: search for a label": (PAGE, {"q": "customer:c4711"}),
    "admin: dead letters, big": (LETTER_PAGE, {"label": "customer:big"}),
    "admin: groups, big": (GROUP_PAGE, {"label": "customer:big"}),
}


def measure(stage: Stage, options: Options) -> bool:
    """Fill the tables, request each list, print a line for each; return whether all were met."""
    many = round(EXECUTIONS * options.scale)
    began = time.monotonic()
    _fill(many)
    say(f"{many:,} executions with two labels each in {time.monotonic() - began:.0f} s")
    for line in _sizes():
        print(line)
    print(f"\n{'list, ms':30} {'as':11} {'rows':>5} {'p50':>8} {'p95':>8}   p95 <= {TARGET_MS}")
    met = True
    for who, name, ask in _asks():
        status, rows, times = _asked(ask)
        fine = status == 200 and times.p95 <= TARGET_MS
        met = met and fine
        verdict = "met" if fine else f"MISSED ({status})"
        print(
            f"{name:30} {who:11} {rows:5} {times.p50:8.1f} {times.p95:8.1f}   {verdict}", flush=True
        )
    return met


def _fill(many: int) -> None:
    """Executions with labels; runs and dead letters of the failed ones alone."""
    from concurrent.futures import ThreadPoolExecutor
    from uuid import UUID

    from dlq.models import DeadLetterEntry, FailureGroup
    from runners.models import Run

    filling._templates()
    sizes = {"many": many, "places": filling.WORKSPACES, "each": 1}
    share = min(0.9, BIG / many)
    filling.EXECUTION["labels"] = LABELS.format(share=share)
    halves = ((1, many // 2), (many // 2 + 1, many))
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda half: filling._executions(sizes, *half), halves))
        say(f"{many:,} executions")
        bounds = (UUID(int=0), _median(), UUID(int=2**128 - 1))
        parts = [{"first": bounds[n], "last": bounds[n + 1]} for n in range(2)]
        list(both.map(lambda part: filling._execute(FILL_LABELS, part), parts))
    say("labels")
    failed = filling.FILL_RUNS.replace("e.finished_at IS NOT NULL", "e.state = 'FAILED'")
    filling.run(Run, failed, sizes)
    filling.run(FailureGroup, filling.FILL_GROUPS, sizes)
    letters = filling.FILL_LETTERS.replace("group_id{columns}", "group_id, labels{columns}")
    letters = letters.replace("g.id{values}", "g.id, e.labels{values}")
    # As the engine's IDs, these begin with a time: lists by label are in the order of IDs.
    letters = letters.replace("gen_random_uuid()", "uuidv7(e.finished_at - clock_timestamp())")
    filling.run(DeadLetterEntry, letters, sizes)
    filling._execute("VACUUM ANALYZE")


def _median() -> Any:
    """Return an ID in the middle of the table, by the time in it."""
    from datetime import timedelta

    from executions.database.clock import database_now, first_id_at

    return first_id_at(database_now() - timedelta(days=15))


def _sizes() -> Iterator[str]:
    from django.db import connection

    with connection.cursor() as cursor:
        for table in ("executions_workflowexecution", "executions_executionlabel"):
            cursor.execute(
                "SELECT pg_size_pretty(pg_table_size(%s::regclass)),"
                " pg_size_pretty(pg_indexes_size(%s::regclass)),"
                " (SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass)",
                [table] * 3,
            )
            heap, indexes, rows = cursor.fetchone()
            yield f"{table}: {rows:,} rows, {heap}, indexes {indexes}"
        cursor.execute("SELECT count(*) FROM dlq_deadletterentry")
        yield f"dead letters: {cursor.fetchone()[0]:,}"


def _asks() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Each list as a superuser, as a member of a large and of a small workspace."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from rest_framework.test import APIClient

    from executions.models import Membership, Workflow, Workspace

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    users = get_user_model().objects
    boss = users.create_superuser("boss")
    first, last = (Workspace.objects.get(slug=f"team-{n}") for n in (0, 39))
    people = [("superuser", boss, first)]
    for who, workspace in (("large team", first), ("small team", last)):
        user = users.create_user(who.split()[0], is_staff=True)
        Membership.objects.create(user=user, workspace=workspace, role="ADMIN")
        people.append((who, user, workspace))
    for who, user, workspace in people:
        api, pages = APIClient(), Client()
        api.force_authenticate(user)
        pages.force_login(user)
        workflow = str(Workflow.objects.get(workspace=workspace).pk)
        for name, (path, query) in API.items():
            values = {key: value.replace("{workflow}", workflow) for key, value in query.items()}
            yield who, name, _get(api, f"{path}?{urlencode(values)}")
        for name, (path, query) in ADMIN.items():
            yield who, name, _get(pages, f"{path}?{urlencode(query)}")


def _get(client: Any, path: str) -> Callable[[], Any]:
    return lambda: client.get(path)


def _asked(ask: Callable[[], Any]) -> tuple[int, int, Quantiles]:
    """Return the status, the number of rows, and the milliseconds; the first reading is warm-up."""
    from django.core.cache import cache

    answer = ask()
    times = []
    for _ in range(ASKED):
        cache.clear()
        began = time.perf_counter()
        ask()
        times.append(1000 * (time.perf_counter() - began))
    return answer.status_code, _rows(answer), quantiles(times)


def _rows(answer: Any) -> int:
    context = getattr(answer, "context_data", None) or {}
    if "cl" in context:
        return len(context["cl"].result_list)
    data = getattr(answer, "data", [])
    return len(data["values"]) if isinstance(data, dict) and "values" in data else len(data)
