"""Dashboards over a million finished executions, the cost of counting their hours, and the index.

The first page and a workflow's page are requested as a superuser and as members of a large and of a
small workspace, in every range, without a cache. The index of `finished_at` is tried on copies of
the table: rows are inserted and ended, alternately with this index, with a BRIN index, and without
an index.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.benchmarks.filling import fill
from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS = 1_000_000
RUNS_EACH = 3
ASKED = 15
TARGET_MS = 300
ENDED = 50_000
TURNS = 3
INDEXES = {
    "without": "",
    "b-tree": "CREATE INDEX ON bench_ended (finished_at) WHERE finished_at IS NOT NULL",
    "BRIN": "CREATE INDEX ON bench_ended USING brin (finished_at)",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Milliseconds of each page and of counting an hour; microseconds of ending an execution."""

    pages: dict[str, Quantiles]
    hours: Quantiles
    catching_up: float
    ending: dict[str, float]


def measure(stage: Stage, options: Options) -> Measured:
    """Fill the tables, count the hours, request the pages, try the indexes."""
    many = round(EXECUTIONS * options.scale)
    began = time.monotonic()
    fill(many, RUNS_EACH)
    say(f"{many:,} executions in {time.monotonic() - began:.0f} s")
    hours, catching_up = count_all()
    say("asking for the pages")
    pages = {name: quantiles(list(_times(ask))) for name, ask in _pages()}
    return Measured(pages, hours, catching_up, _ending())


def report(found: Measured) -> None:
    """Print all figures."""
    print(f"\n| page, nothing kept (goal: p95 {TARGET_MS} ms) | p50 ms | p95 ms |\n|---|---|---|")
    for name, times in found.pages.items():
        print(f"| {name} | {times.p50:.0f} | {times.p95:.0f} |")
    print(f"\ncounting one hour: p50 {found.hours.p50:.0f} ms, p95 {found.hours.p95:.0f} ms")
    print(f"counting all 29 days once: {found.catching_up:.1f} s")
    print(f"\nstarting and ending an execution, {ENDED:,} at once, us each (median of {TURNS}):")
    for name, cost in found.ending.items():
        print(f"  {name}: {cost:.1f}")


def count_all() -> tuple[Quantiles, float]:
    """Count every hour; return the milliseconds of each hour, and the seconds of all."""
    from executions.database.clock import database_now
    from valkyr_plugins.figures.rollup import count_hour, due

    times = []
    for hour in due({}, database_now()):
        began = time.perf_counter()
        count_hour(hour)
        times.append(1_000 * (time.perf_counter() - began))
    return quantiles(times[:300]), sum(times) / 1_000


def _pages() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every page as every user, in every range."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client
    from django.urls import reverse

    from executions.models import Membership, Workflow, Workspace
    from valkyr_plugins.figures.ranges import RANGES

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    users = get_user_model().objects
    people = {"superuser": users.create_superuser("boss")}
    for who, place in (("large team", "team-0"), ("small team", "team-39")):
        people[who] = users.create_user(place, is_staff=True)
        workspace = Workspace.objects.get(slug=place)
        Membership.objects.create(user=people[who], workspace=workspace, role="ADMIN")
    people["member of 40"] = users.create_user("all", is_staff=True)
    for workspace in Workspace.objects.filter(slug__startswith="team-"):
        Membership.objects.create(user=people["member of 40"], workspace=workspace, role="ADMIN")
    largest = Workflow.objects.get(workspace__slug="team-0")
    figures = reverse("admin:executions_workflow_figures", args=[largest.pk])
    for who, user in people.items():
        client = Client()
        client.force_login(user)
        for name in RANGES:
            yield f"home, {who}, {name}", _get(client, f"/admin/?range={name}")
        if who == "large team":
            for name in RANGES:
                yield f"workflow, {who}, {name}", _get(client, f"{figures}?range={name}")


def _get(client: Any, address: str) -> Callable[[], Any]:
    return lambda: client.get(address)


def _times(ask: Callable[[], Any]) -> Iterator[float]:
    from django.core.cache import cache

    for number in range(ASKED + 1):
        cache.clear()
        began = time.perf_counter()
        answer = ask()
        assert answer.status_code == 200, answer.status_code
        if number:  # the first one warms the templates
            yield 1_000 * (time.perf_counter() - began)


def _ending() -> dict[str, float]:
    """Return the microseconds of inserting and ending one execution, by index, measured
    alternately.
    """
    found: dict[str, list[float]] = {name: [] for name in INDEXES}
    for _ in range(TURNS):
        for name, statement in INDEXES.items():
            found[name].append(_ended(statement))
    return {name: median(times) for name, times in found.items()}


def _ended(index: str) -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; DROP TABLE IF EXISTS bench_ended")
        cursor.execute(
            "CREATE TABLE bench_ended (LIKE executions_workflowexecution INCLUDING ALL "
            "EXCLUDING COMMENTS)"
        )
        cursor.execute(
            "SELECT indexname FROM pg_indexes WHERE tablename = 'bench_ended' "
            "AND indexdef LIKE '%%(finished_at)%%'"
        )
        for (own,) in cursor.fetchall():
            cursor.execute(f'DROP INDEX "{own}"')
        if index:
            cursor.execute(index)
        began = time.perf_counter()
        cursor.execute(
            "INSERT INTO bench_ended SELECT (jsonb_populate_record(e, "
            """'{"state": "RUNNING", "finished_at": null}')).* """
            "FROM executions_workflowexecution AS e WHERE finished_at IS NOT NULL LIMIT %s",
            [ENDED],
        )
        cursor.execute("UPDATE bench_ended SET state = 'SUCCESS', finished_at = clock_timestamp()")
        took, rows = time.perf_counter() - began, cursor.rowcount
        cursor.execute("DROP TABLE bench_ended; RESET statement_timeout")
    return 1_000_000 * took / rows
