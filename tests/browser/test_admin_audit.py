"""The audit trail and revealed payloads in the browser, served as in production."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from executions.models import Activity
from tests.browser.acting import page_action
from tests.support import admin_rows as rows


def test_payloads_are_revealed_in_the_dialog_for_a_reason(staff_page: Any) -> None:
    entry = rows.failed_order(rows.workflow())
    page = f"{staff_page.home}/admin/executions/workflowexecution/{entry.execution_id}/change/"
    assert staff_page.goto(page).ok

    page_action(staff_page, "Reveal…").click()
    dialog = staff_page.get_by_role("dialog")
    dialog.get_by_role("button", name="Reveal").click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    dialog.get_by_label("Reason").fill("ticket 7")
    dialog.get_by_role("button", name="Reveal").click()

    expect(dialog.get_by_text("hunter2")).to_be_visible()
    expect(dialog.get_by_role("button", name="Reveal")).to_have_count(0)
    dialog.get_by_role("button", name="Close").last.click()
    staff_page.reload()
    expect(staff_page.get_by_text("hunter2")).to_have_count(0)
    staff_page.locator("summary", has_text="Activity").click()
    expect(staff_page.get_by_role("cell", name="payload.reveal")).to_be_visible()
    expect(staff_page.get_by_role("cell", name="ticket 7")).to_be_visible()


def test_the_trail_is_narrowed_and_taken_away(staff_page: Any, tmp_path: Path) -> None:
    rows.one_of_each(rows.workflow(), 2)
    assert staff_page.goto(f"{staff_page.home}/admin/executions/activity/?who=ada").ok
    expect(staff_page.get_by_role("row")).to_have_count(3)

    with staff_page.expect_download() as downloading:
        staff_page.get_by_role("button", name="Export these rows").click()
    downloading.value.save_as(tmp_path / "trail.jsonl")

    lines = [json.loads(line) for line in (tmp_path / "trail.jsonl").read_text().splitlines()]
    assert [line["actor"] for line in lines] == ["ada", "ada"]
    assert Activity.objects.filter(action="activity.export", via="admin").count() == 1
