"""The files for Prometheus and Grafana in deploy/ are well-formed, and name existing metrics."""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from dlq.metrics import DATABASE
from dlq.models import BeatPulse
from executions.database.clock import ClockTimestamp
from tests.support.running import output_of
from tests.support.stack import PROJECT

RULES = PROJECT / "deploy" / "prometheus"
DASHBOARD = PROJECT / "deploy" / "grafana" / "valkyr.json"
# Metrics of Prometheus itself and of its client library.
FOREIGN = {"up", "process_cpu_seconds_total", "process_resident_memory_bytes"}
NAME = re.compile(r"\b(valkyr[:_][a-zA-Z0-9_:]+|process_[a-z_]+)\b")


def promtool(*arguments: str) -> None:
    """Run promtool in the rules' folder; fail with its findings."""
    if shutil.which("promtool") is None:
        if os.environ.get("CI"):
            pytest.fail("promtool is missing; Debian has it in the package prometheus")
        pytest.skip("promtool is not installed (Debian: apt-get install prometheus)")
    output_of(["promtool", *arguments], folder=RULES, seconds=60)


def rules() -> list[dict[str, Any]]:
    return [
        rule
        for name in ("recording.yml", "alerts.yml")
        for group in yaml.safe_load((RULES / name).read_text())["groups"]
        for rule in group["rules"]
    ]


def given(text: str) -> set[str]:
    """Return the names of all series that a scrape may contain, from its TYPE lines."""
    names: set[str] = set()
    for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE):
        if kind == "histogram":
            names |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
        else:
            names.add(name)
    return names


def test_prometheus_takes_the_rules_and_the_example() -> None:
    promtool("check", "rules", "recording.yml", "alerts.yml")
    promtool("check", "config", "prometheus.yml")


def test_the_alerts_do_what_their_own_tests_say() -> None:
    promtool("test", "rules", "alerts.test.yml")


def test_every_alert_says_what_to_do_and_leads_to_a_section_that_there_is() -> None:
    headings = re.findall(
        r"^## (.+)$", (PROJECT / "docs/how-to/operations.md").read_text(), re.MULTILINE
    )
    anchors = {re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-") for title in headings}
    for rule in rules():
        if "alert" not in rule:
            continue
        notes = rule["annotations"]
        assert notes["summary"], rule["alert"]
        assert notes["description"], rule["alert"]
        page, _, anchor = notes["runbook_url"].partition("#")
        assert page == "docs/how-to/operations.md"
        assert anchor in anchors, f"{rule['alert']} leads to #{anchor}"
        assert rule["labels"]["severity"] in {"critical", "warning"}


@pytest.mark.django_db
def test_dashboard_and_rules_ask_for_series_that_there_are() -> None:
    BeatPulse.objects.update_or_create(pk=1, defaults={"ticked_at": ClockTimestamp()})
    DATABASE.forget()
    known = given(Client().get("/metrics").content.decode()) | FOREIGN
    DATABASE.forget()
    known |= {rule["record"] for rule in rules() if "record" in rule}

    asked = {name for rule in rules() for name in NAME.findall(rule["expr"])}
    asked |= {name for expression in expressions(DASHBOARD) for name in NAME.findall(expression)}

    assert len(asked) > 40
    assert not asked - known


def expressions(path: Path) -> list[str]:
    panels = json.loads(path.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def test_panels_stand_beside_each_other_and_say_what_they_show() -> None:
    panels = json.loads(DASHBOARD.read_text())["panels"]
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24
        taken |= cells
        if panel["type"] != "row":
            assert panel["targets"]
            assert panel["fieldConfig"]["defaults"]["unit"]
    assert len({panel["id"] for panel in panels}) == len(panels)
