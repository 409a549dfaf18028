"""A backtest in the studio: requested next to the publish button, and shown on the canvas."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from executions.publishing import versioning
from tests.support.workflows import ACTOR
from valkyr_plugins.backtest.models import Backtest

pytestmark = pytest.mark.browser
TASK = {"id": "fetch", "use": "flow.noop"}


def test_a_draft_is_compared_and_the_verdicts_are_on_the_canvas(studio: Any, workflow: Any) -> None:
    found: Workflow = workflow(tasks=[TASK])
    versioning.publish(found.pk, actor=ACTOR)
    page = studio(found)
    page.get_by_role("button", name="Backtest…").click()
    dialog = page.get_by_role("dialog", name="Backtest the draft")
    last = dialog.get_by_role("spinbutton", name="Maximum executions")
    start = dialog.get_by_role("button", name="Start backtest")
    last.fill("0")
    expect(start).to_have_attribute("aria-disabled", "true")
    last.fill("20")
    start.click()
    expect(dialog.get_by_text("0 of ? executions compared.")).to_be_visible()
    made = Backtest.objects.get(workflow=found)
    assert (made.most, made.state) == (20, "PENDING")

    group = {
        "key": "k", "stepPath": "fetch.main", "verdict": "DIFFERENT_OUTPUT", "reason": "OUTPUT",
        "module": "flow.noop", "recorded": "success", "detail": "", "fields": ["n"], "count": 3,
        "executions": [str(found.pk)], "values": [["2"]], "before": [["1"]],
        "sample": [{"field": "n", "recorded": 1, "now": 2}],
    }  # fmt: skip
    made.groups = {"groups": [group], "leftOut": 0}
    made.counts = {"DIFFERENT_OUTPUT": 3}
    made.by_step = {"fetch.main": {"DIFFERENT_OUTPUT": 3}}
    made.state, made.total, made.done = "DONE", 3, 3
    made.finished_at = made.created_at
    made.save()

    expect(dialog.get_by_text("3 of 3 executions compared.")).to_be_visible()
    told = "3 executions: step fetch would now return n 2 instead of 1."
    expect(dialog.get_by_text(told)).to_be_visible()
    dialog.get_by_role("button", name="Show on canvas").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_text("different output").first).to_be_visible()
