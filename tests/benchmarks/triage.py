"""Triage over a million dead letters: lists, filters by path, pages; as three users.

Targets: lists and pages within 150 ms at the 95th percentile, filters on inputs within 500 ms.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from tests.benchmarks.triage_rows import fill

ENTRIES = 1_000_000
ASKED = 9
LIST_MS, PATH_MS = 150, 500
GROUP_LIST, ENTRY_LIST = "/admin/dlq/failuregroup/", "/admin/dlq/deadletterentry/"
INSERTED = 2_000

GROUPS: dict[str, dict[str, str]] = {
    "groups": {},
    "groups, all": {"status": "all"},
    "groups by count": {"order": "count"},
    "groups by growth": {"order": "growth"},
    "groups, text": {"q": "message 77"},
}
PLAIN: dict[str, dict[str, str]] = {
    "entries": {},
    "entries, all": {"resolution": "all"},
    "entries, discarded": {"resolution": "discarded"},
    "entries, HTTP 503": {"status": "503"},
    "entries, last hour": {"since": "1h"},
    "entries, exception": {"exception": "Error7"},
    "entries, target": {"target": "host7.test"},
    "entries, worker": {"worker": "io@box-3"},
    "entries, text": {"text": "said no"},
}
RARE: dict[str, dict[str, str]] = {
    "HTTP 418 (rare)": {"status": "418"},
    "text (once)": {"text": "request 4711"},
    "nothing": {"exception": "Nowhere", "resolution": "all"},
}
BY_PATH: dict[str, list[str]] = {
    "path, half": ['order.country:eq:"DE"'],
    "path, 0.05 %": ['order.country:eq:"LI"'],
    "path, old fifth": ['order.country:eq:"AT"'],
    "path, once": ["order.id:eq:{once}"],
    "path, none": ['order.country:eq:"XX"'],
    "contains, all": ['tags:contains:"eu"'],
    "contains, rare": ['tags:contains:"recall"'],
    "nested, rare": ['lines[].sku:eq:"SKU-4711"'],
    "two paths": ['order.country:eq:"DE"', "order.customer.id:eq:4712"],
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One page as one user: milliseconds, the number of rows, and the target.

    `cpu` is the web process's median CPU time, which a busy machine hardly changes.
    """

    name: str
    who: str
    status: int
    rows: int
    times: Quantiles
    cpu: float
    target: int


def measure(stage: Stage, options: Options) -> None:
    """Fill the tables, print the size and cost of the indexes, then request each page; print one
    line per page.
    """
    many = round(ENTRIES * options.scale)
    began = time.monotonic()
    fill(many)
    say(f"{many:,} dead letters in {time.monotonic() - began:.0f} s")
    for line in _sizes():
        print(line)
    for row in _pages(many):
        print(told(row), flush=True)
    for line in _insert_costs():
        print(line)


def _pages(many: int) -> Iterator[Asked]:
    for who, client, entry, group in _people():
        asks = [(name, GROUP_LIST, query, LIST_MS) for name, query in GROUPS.items()]
        asks += [(name, ENTRY_LIST, query, LIST_MS) for name, query in PLAIN.items()]
        asks += [(name, ENTRY_LIST, query, PATH_MS) for name, query in RARE.items()]
        for name, query in _by_path(many):
            asks.append((name, ENTRY_LIST, query, PATH_MS))
        asks.append(("group's entries", ENTRY_LIST, {"group": group}, LIST_MS))
        asks.append(("group's page", f"{GROUP_LIST}{group}/change/", {}, LIST_MS))
        asks.append(("entry's page", f"{ENTRY_LIST}{entry}/change/", {}, LIST_MS))
        for name, address, query, target in asks:
            yield _asked(client, name, who, f"{address}?{urlencode(query, doseq=True)}", target)
        yield _asked(client, "entries, page 2", who, _next(client), LIST_MS)


def _by_path(many: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, texts in BY_PATH.items():
        conditions = [text.replace("{once}", str(many // 3)) for text in texts]
        yield name, {"inputs": conditions, "resolution": "all"}


def _next(client: Any) -> str:
    answer = client.get(ENTRY_LIST)
    return ENTRY_LIST + str(answer.context_data["cl"].next_page)


def _people() -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield the users who request the pages, with an entry and a group."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from dlq.models import DeadLetterEntry, FailureGroup
    from executions.models import Membership, Workspace

    settings.ALLOWED_HOSTS = ["*"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }
    for who, slug in (("superuser", "team-0"), ("large team", "team-0"), ("small team", "team-3")):
        user = get_user_model().objects.create_user(
            who.replace(" ", "-"), is_staff=True, is_superuser=who == "superuser"
        )
        own = Workspace.objects.get(slug=slug)
        if who != "superuser":
            Membership.objects.create(user=user, workspace=own, role="ADMIN")
        client = Client()
        client.force_login(user)
        entries = DeadLetterEntry.objects.filter(workspace=own, resolution="PENDING")
        groups = FailureGroup.objects.filter(workspace=own)
        yield (
            who,
            client,
            entries.values_list("pk", flat=True).first(),
            groups.values_list("pk", flat=True).first(),
        )


def _asked(client: Any, name: str, who: str, address: str, target: int) -> Asked:
    from django.core.cache import cache

    times, cpu = [], []
    answer = client.get(address)
    for _ in range(ASKED):
        cache.clear()
        began, worked = time.perf_counter(), time.process_time()
        answer = client.get(address)
        times.append(1000 * (time.perf_counter() - began))
        cpu.append(1000 * (time.process_time() - worked))
    listed = (getattr(answer, "context_data", None) or {}).get("cl")
    rows = len(listed.result_list) if listed is not None else 0
    if listed is not None and getattr(listed, "too_many", False):
        rows = -1
    own = quantiles(cpu).p50
    return Asked(name, who, answer.status_code, rows, quantiles(times), own, target)


def _sizes() -> Iterator[str]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_relation_size(oid) / 1048576.0 FROM pg_class WHERE relname = "
            "'dlq_deadletterentry' OR oid IN (SELECT indexrelid FROM pg_index WHERE indrelid = "
            "'dlq_deadletterentry'::regclass) ORDER BY 2 DESC"
        )
        for name, size in cursor.fetchall():
            yield f"{name:55} {size:8.1f} MiB"


def _insert_costs() -> Iterator[str]:
    """Yield the microseconds per row with and without the GIN index on inputs; each row is one
    statement.
    """
    from django.db import connection

    insert = (
        "DO $$ DECLARE r record; BEGIN FOR r IN SELECT * FROM dlq_deadletterentry LIMIT "
        f"{INSERTED} LOOP r.id = uuidv7(); r.run_id = uuidv7(); "
        "INSERT INTO dlq_deadletterentry SELECT r.*; END LOOP; END $$"
    )
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET session_replication_role = replica")
        for what in ("with the GIN index", "without it"):
            began = time.perf_counter()
            cursor.execute(insert)
            took = 1_000_000 * (time.perf_counter() - began) / INSERTED
            yield f"insert {what}: {took:.0f} µs a row"
            cursor.execute("DROP INDEX IF EXISTS dlq_inputs")


def told(row: Asked) -> str:
    """Return one line per page and user; -1 rows means too many to count."""
    verdict = "ok" if row.times.p95 <= row.target else "MISSED"
    verdict += "" if row.status == 200 else f", answers {row.status}"
    return (
        f"{row.name:18} {row.who:11} {row.rows:3} rows  p50 {row.times.p50:7.1f}  "
        f"p95 {row.times.p95:7.1f} <= {row.target} ms {verdict}  (cpu {row.cpu:.0f})"
    )
