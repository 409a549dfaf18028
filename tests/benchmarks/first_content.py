"""First content of the admin's pages over a million executions and a million open dead letters.

The platform is served as `make up` serves it, and Chromium loads each page: on a first visit, with
an empty cache of files, and again. The server keeps no facts between loads. In addition to the
browser's own figures, the module estimates Lighthouse's performance score from its published curves
for desktops: https://github.com/GoogleChrome/lighthouse/blob/main/core/config/default-config.js
(weights) and https://googlechrome.github.io/lighthouse/scorecalc/ (curves). It is an estimate
because First Contentful Paint replaces Speed Index, which needs a film of the page. If LIGHTHOUSE
in the environment is the path of the program, Lighthouse itself measures the pages.
"""

import json
import math
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import filling, programs
from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from tests.support.chromium import chromium_path
from valkyr_project.up.prepare import static

ROWS = 1_000_000
VISITS = 9
TARGET_MS = 300
GROUPS_EACH = 25
SIZE = {"width": 1350, "height": 940}  # Lighthouse's desktop
# (p10, median, weight) of Lighthouse 12 for desktops; milliseconds, and a share for shifts.
CURVES = {
    "fcp": (934, 1_600, 0.20),  # with the weight of the Speed Index
    "lcp": (1_200, 2_400, 0.25),
    "tbt": (150, 350, 0.30),
    "cls": (0.1, 0.25, 0.25),
}
MORE_GROUPS = filling.FILL_GROUPS.replace(
    "FROM bench_template", f"FROM bench_template CROSS JOIN generate_series(1, {GROUPS_EACH})"
)
HOURS = """
INSERT INTO dlq_grouphour (group_id, hour, count)
SELECT id, date_trunc('hour', now()) - h * interval '1 hour', 1 + (random() * 40)::int
  FROM dlq_failuregroup CROSS JOIN generate_series(0, 190) AS h
"""
# One for each execution that did not fail: as many as there are executions, all of them open.
LETTERS = filling.FILL_LETTERS.replace(
    "JOIN dlq_failuregroup AS g ON g.workflow_id = e.workflow_id",
    "JOIN (SELECT row_number() OVER (PARTITION BY workflow_id) AS place, id, workflow_id "
    "FROM dlq_failuregroup) AS g ON g.workflow_id = e.workflow_id "
    f"AND g.place = 1 + abs(hashtext(e.id::text)) %% {GROUPS_EACH + 1}",
).replace("r.state = 'DLQ'", "r.state <> 'DLQ' AND e.finished_at IS NOT NULL")
LOOK = """() => new Promise((told) => {
  const found = { fcp: 0, lcp: 0, cls: 0, tbt: 0 };
  const note = (type, each) => new PerformanceObserver((list) => list.getEntries().forEach(each))
    .observe({ type, buffered: true });
  const tell = () => {
    const [page] = performance.getEntriesByType("navigation");
    const files = [page, ...performance.getEntriesByType("resource")];
    told({
      ...found, server: page.responseStart - page.requestStart,
      bytes: files.reduce((sum, file) => sum + file.encodedBodySize, 0),
    });
  };
  note("largest-contentful-paint", (entry) => { found.lcp = entry.startTime; });
  note("layout-shift", (entry) => { if (!entry.hadRecentInput) found.cls += entry.value; });
  note("longtask", (entry) => { found.tbt += Math.max(0, entry.duration - 50); });
  note("paint", (entry) => {
    if (entry.name !== "first-contentful-paint") return;
    found.fcp = entry.startTime;
    setTimeout(tell, 300);
  });
})"""


@dataclass(frozen=True, slots=True)
class Visited:
    """A page: milliseconds of the server and of the first content, and the browser's other
    figures.
    """

    name: str
    server: float
    first: float
    again: float
    lcp: float
    tbt: float
    cls: float
    kilobytes: float

    @property
    def score(self) -> int:
        """Return Lighthouse's performance score for these figures, estimated."""
        values = {"fcp": self.first, "lcp": self.lcp, "tbt": self.tbt, "cls": self.cls}
        return round(100 * sum(weight * curve(values[name], p10, median)
                               for name, (p10, median, weight) in CURVES.items()))  # fmt: skip


def curve(value: float, p10: float, median: float) -> float:
    """Return Lighthouse's log-normal score: 0.5 at the median, 0.9 at `p10`."""
    if value <= 0:
        return 1.0
    # erfc⁻¹(1/5), as in Lighthouse's statistics.js
    inverse = 0.9061938024368232
    x = inverse * (math.log(value) - math.log(median)) / (math.log(median) - math.log(p10))
    return 0.5 * math.erfc(x)


def measure(stage: Stage, options: Options) -> None:
    """Fill the tables, serve and visit the pages, and print the figures."""
    many = round(ROWS * options.scale)
    began = time.monotonic()
    fill(many)
    say(f"{many:,} executions, as many dead letters: {time.monotonic() - began:.0f} s")
    static()  # as `make up` does, with names that have hashes
    port = _free_port()
    stage.add(programs.web(stage.folder, port))
    home = f"http://127.0.0.1:{port}"
    _wait(home)
    cookie, pages = _signed_in(), _pages()
    print(f"\n| page (goal: first content within {TARGET_MS} ms) | server | first content, "
          "first visit | again | LCP | TBT | CLS | KB | score, estimated |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|")
    for row in _visits(home, cookie, pages):
        verdict = "" if max(row.first, row.again) <= TARGET_MS else " **missed**"
        print(
            f"| {row.name}{verdict} | {row.server:.0f} | {row.first:.0f} | {row.again:.0f} | "
            f"{row.lcp:.0f} | {row.tbt:.0f} | {row.cls:.3f} | {row.kilobytes:.0f} | {row.score} |",
            flush=True,
        )
    if program := os.environ.get("LIGHTHOUSE"):
        for line in _lighthouse(program, home, cookie, pages, stage.folder):
            print(line, flush=True)


def fill(many: int) -> None:
    """Insert executions with a run and a dead letter each, groups, and the hours' figures."""
    from django.db import connection

    from dlq.models import DeadLetterEntry, FailureGroup
    from tests.benchmarks import dashboards

    filling.fill(many, 1)
    for model, statement in ((FailureGroup, MORE_GROUPS), (DeadLetterEntry, LETTERS)):
        filling.run(model, statement, {})
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(HOURS)
        cursor.execute(
            "UPDATE dlq_failuregroup AS g SET total = n, open = n FROM (SELECT group_id, count(*) "
            "AS n FROM dlq_deadletterentry GROUP BY 1) AS c WHERE c.group_id = g.id"
        )
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("RESET statement_timeout")
    dashboards.count_all()


def _visits(home: str, cookie: str, pages: dict[str, str]) -> Iterator[Visited]:
    from playwright.sync_api import sync_playwright

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"]
        )
        for name, address in pages.items():
            fresh = [_visit(browser, home + address, cookie, times=1) for _ in range(VISITS // 3)]
            again = _visit(browser, home + address, cookie, times=VISITS + 1)[1:]
            first = [visit for visits in fresh for visit in visits]
            yield Visited(
                name,
                _median(first + again, "server"),
                _median(first, "fcp"),
                _median(again, "fcp"),
                _median(first, "lcp"),
                _median(first, "tbt"),
                _median(first, "cls"),
                _median(first, "bytes") / 1_000,
            )
        browser.close()


def _visit(browser: Any, address: str, cookie: str, *, times: int) -> list[dict[str, float]]:
    """Load a page `times` times in one new browser profile with an empty cache; return the timings
    of each.
    """
    from django.core.cache import cache

    context = browser.new_context(viewport=SIZE)
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": address}])
    found = []
    for _ in range(times):
        cache.clear()
        page = context.new_page()
        page.goto(address, wait_until="load")
        found.append(page.evaluate(LOOK))
        page.close()
    context.close()
    return found


def _median(visits: list[dict[str, float]], name: str) -> float:
    return quantiles([visit[name] for visit in visits]).p50


def _pages() -> dict[str, str]:
    from django.urls import reverse

    from dlq.models import DeadLetterEntry, FailureGroup

    letter = DeadLetterEntry.objects.filter(workspace__slug="team-0").latest("quarantined_at")
    group = FailureGroup.objects.filter(workspace__slug="team-0").latest("last_seen")
    return {
        "home": "/admin/",
        "executions": "/admin/executions/workflowexecution/",
        "executions, failed": "/admin/executions/workflowexecution/?state=failed",
        "an execution": reverse(
            "admin:executions_workflowexecution_change", args=[letter.execution_id]
        ),
        "failures": "/admin/dlq/failuregroup/",
        "a failure": reverse("admin:dlq_failuregroup_change", args=[group.pk]),
        "dead letters": "/admin/dlq/deadletterentry/",
        "a dead letter": reverse("admin:dlq_deadletterentry_change", args=[letter.pk]),
    }


def _signed_in() -> str:
    from django.contrib.auth import get_user_model
    from django.test import Client

    client = Client()
    client.force_login(get_user_model().objects.create_superuser("boss"))
    return client.cookies["sessionid"].value


def _lighthouse(
    program: str, home: str, cookie: str, pages: dict[str, str], folder: Path
) -> Iterator[str]:
    yield "\n| page | Lighthouse: performance | accessibility | FCP | LCP | TBT | CLS |"
    yield "|---|---|---|---|---|---|---|"
    for name, address in pages.items():
        out = folder / "lighthouse.json"
        command = [
            program, home + address, "--preset=desktop", "--quiet", "--output=json",
            f"--output-path={out}", "--only-categories=performance,accessibility",
            f"--extra-headers={json.dumps({'Cookie': f'sessionid={cookie}'})}",
            "--chrome-flags=--headless --no-sandbox --disable-gpu",
        ]  # fmt: skip
        subprocess.run(command, check=True, env=os.environ | {"CHROME_PATH": str(chromium_path())})
        found = json.loads(out.read_text())
        audits = found["audits"]
        scores = [found["categories"][one]["score"] for one in ("performance", "accessibility")]
        values = [
            audits[one]["numericValue"]
            for one in (
                "first-contentful-paint", "largest-contentful-paint", "total-blocking-time",
                "cumulative-layout-shift",
            )
        ]  # fmt: skip
        failed = [
            ref["id"]
            for ref in found["categories"]["accessibility"]["auditRefs"]
            if audits[ref["id"]]["score"] == 0
        ]
        cells = [*(f"{100 * score:.0f}" for score in scores), *(f"{v:.0f}" for v in values[:3])]
        yield f"| {name} | {' | '.join(cells)} | {values[3]:.3f} | {' '.join(failed)}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(home: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(f"{home}/admin/login/", timeout=10):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
