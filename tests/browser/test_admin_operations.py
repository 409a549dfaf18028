"""Operations by clicks: each action opens a dialog, acts by POST, and reports the result."""

from typing import Any

from playwright.sync_api import expect

from dlq.models import DeadLetterEntry
from executions.models import Activity, Workflow, WorkflowExecution
from runners.models import Run
from tests.browser.acting import page_action
from tests.support import admin_rows as rows

LETTERS = "/admin/dlq/deadletterentry/"
EXECUTIONS = "/admin/executions/workflowexecution/"
WORKFLOWS = "/admin/executions/workflow/"


def _open(page: Any, address: str) -> None:
    assert page.goto(f"{page.home}{address}").status == 200


def _row_action(page: Any, title: str, row: int = 0) -> Any:
    page.get_by_role("button", name="Actions").nth(row).click()
    page.get_by_role("link", name=title, exact=True).locator("visible=true").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def _page_action(page: Any, title: str) -> Any:
    page_action(page, title).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def test_a_dead_letter_is_requeued_from_its_row(staff_page: Any) -> None:
    entry = rows.failed_order(rows.workflow())
    _open(staff_page, LETTERS)

    dialog = _row_action(staff_page, "Requeue…")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    dialog.get_by_label("Reason").fill("partner is back")
    dialog.get_by_role("button", name="Requeue").click()

    expect(staff_page.get_by_text("1 requeued.")).to_be_visible()
    entry.refresh_from_db()
    assert entry.resolution == "REQUEUED"
    assert entry.requeued_run is not None
    entry.execution.refresh_from_db()
    assert entry.execution.state == "RUNNING"
    expect(staff_page.get_by_text("The dead-letter queue is empty")).to_be_visible()


def test_overrides_are_checked_before_anything_is_done(staff_page: Any) -> None:
    entry = rows.failed_order(rows.workflow())
    _open(staff_page, f"{LETTERS}{entry.pk}/change/")

    dialog = _page_action(staff_page, "Requeue with overrides…")
    dialog.get_by_label("Overrides").fill('{"url": ')
    dialog.get_by_role("button", name="Requeue with overrides").click()
    expect(dialog.get_by_text("Invalid JSON: Expecting value at line 1, column 8.")).to_be_visible()
    entry.refresh_from_db()
    assert entry.resolution == "PENDING"

    dialog.get_by_label("Overrides").fill('{"url": "http://partner.test/new"}')
    dialog.get_by_role("button", name="Requeue with overrides").click()
    expect(staff_page.get_by_text("1 requeued.")).to_be_visible()
    entry.refresh_from_db()
    new = Run.objects.get(pk=entry.requeued_run_id)
    assert new.overrides is not None
    assert new.overrides["inputs"] == {"url": "http://partner.test/new"}


def test_several_dead_letters_are_discarded_together(staff_page: Any) -> None:
    workflow = rows.workflow()
    entries = [rows.failed_order(workflow) for _ in range(3)]
    _open(staff_page, LETTERS)

    staff_page.locator("#action-toggle").check()
    staff_page.get_by_label("Select action to run").select_option(label="Discard…")
    staff_page.get_by_role("button", name="Run", exact=True).click()
    expect(staff_page.get_by_text("3 dead letters")).to_be_visible()
    # Another user acts first on one of them.
    DeadLetterEntry.objects.filter(pk=entries[0].pk).update(
        resolution="DISCARDED", resolved_at=entries[0].quarantined_at
    )
    staff_page.get_by_label("Notes").fill("customer gave up")
    staff_page.get_by_role("button", name="Discard").click()

    expect(staff_page.get_by_text("2 discarded")).to_be_visible()
    assert DeadLetterEntry.objects.filter(resolution="DISCARDED").count() == 3
    assert DeadLetterEntry.objects.filter(notes="customer gave up").count() == 2


def test_notes_of_a_dead_letter_are_edited_and_nothing_else_is(staff_page: Any) -> None:
    entry = rows.failed_order(rows.workflow())
    _open(staff_page, f"{LETTERS}{entry.pk}/change/")
    expect(staff_page.get_by_role("button", name="Save")).to_have_count(0)

    dialog = _page_action(staff_page, "Edit notes…")
    dialog.get_by_label("Notes").fill("asked the partner")
    dialog.get_by_role("button", name="Edit notes").click()

    expect(staff_page.locator("section", has_text="asked the partner").first).to_be_visible()
    entry.refresh_from_db()
    assert (entry.notes, entry.resolution) == ("asked the partner", "PENDING")


def test_an_execution_is_paused_resumed_and_cancelled_on_its_page(staff_page: Any) -> None:
    live = rows.execution(rows.workflow())
    rows.run(live, "charge.main", "PENDING", started_at=None)
    _open(staff_page, f"{EXECUTIONS}{live.pk}/change/")

    for title, state in (("Pause", "PAUSED"), ("Resume", "RUNNING"), ("Cancel", "CANCELLED")):
        _page_action(staff_page, f"{title}…").get_by_role("button", name=title).click()
        expect(
            staff_page.get_by_text(f"1 {state.lower()}.".replace("running", "resumed"))
        ).to_be_visible()
        live.refresh_from_db()
        assert live.state == state
    assert Activity.objects.filter(object_id=live.pk, actor_name="op").count() == 3


def test_what_cannot_be_done_is_said_instead_of_offered(staff_page: Any) -> None:
    done = rows.execution(rows.workflow(), "SUCCESS")
    _open(staff_page, EXECUTIONS)

    dialog = _row_action(staff_page, "Cancel…")

    expect(dialog.get_by_text("Not possible: this execution is succeeded.")).to_be_visible()
    assert dialog.get_by_role("button", name="Cancel").count() == 0
    dialog.get_by_role("button", name="Close").last.click()
    expect(dialog).to_be_hidden()
    done.refresh_from_db()
    assert done.state == "SUCCESS"


def test_a_workflow_is_written_published_and_run(staff_page: Any) -> None:
    own = rows.workspace()
    _open(staff_page, f"{WORKFLOWS}add/")

    staff_page.get_by_label("Workspace").select_option(value=str(own.pk))
    staff_page.get_by_label("Name", exact=False).first.fill("Hello")
    staff_page.get_by_label("Definition").fill(
        "schema: valkyr/1\nname: hello\ntasks:\n  - id: a\n    use: nope\n"
    )
    staff_page.get_by_role("button", name="Save and continue editing").click()
    expect(staff_page.get_by_text("nope").first).to_be_visible()

    staff_page.get_by_label("Definition").fill(
        "schema: valkyr/1\nname: hello\ntasks:\n  - id: a\n    use: flow.noop\n"
    )
    staff_page.get_by_role("button", name="Save and continue editing").click()
    expect(staff_page.get_by_text("it can be published")).to_be_visible()

    _page_action(staff_page, "Publish…").get_by_role("button", name="Publish").click()
    expect(staff_page.get_by_text("1 published.")).to_be_visible()
    made = Workflow.objects.get()
    assert made.latest_version is not None

    _open(staff_page, f"{WORKFLOWS}{made.pk}/change/")
    dialog = _page_action(staff_page, "Run…")
    dialog.get_by_label("Payload").fill('{"name": "größe"}')
    dialog.get_by_role("button", name="Run").click()
    expect(staff_page.get_by_text("1 started.")).to_be_visible()
    assert WorkflowExecution.objects.get().trigger_payload == {"name": "größe"}


def test_every_dialog_opens_takes_the_focus_and_closes_by_keyboard(staff_page: Any) -> None:
    workflow = rows.workflow()
    entry = rows.failed_order(workflow)
    live = rows.execution(workflow)
    held = rows.run(live, "charge.main", "RUNNING")
    for address, expected in (
        (f"{WORKFLOWS}{workflow.pk}/change/", 9),
        (f"{EXECUTIONS}{live.pk}/change/", 8),
        (f"/admin/runners/run/{held.pk}/change/", 2),
        (f"{LETTERS}{entry.pk}/change/", 11),
    ):
        _open(staff_page, address)
        actions = staff_page.locator("a[hx-get]")
        expect(actions).to_have_count(expected)
        for number in range(expected):
            if not actions.nth(number).is_visible():
                staff_page.get_by_role("button", name="More", exact=True).click()
            actions.nth(number).click()
            dialog = staff_page.get_by_role("dialog")
            expect(dialog).to_be_visible()
            expect(dialog.locator(":focus")).to_have_count(1)
            staff_page.keyboard.press("Escape")
            expect(dialog).to_be_hidden()
            expect(actions.nth(number)).to_be_focused()


def test_a_live_run_is_quarantined_with_a_reason(staff_page: Any) -> None:
    live = rows.execution(rows.workflow())
    held = rows.run(live, "charge.main", "RUNNING")
    _open(staff_page, f"/admin/runners/run/{held.pk}/change/")

    dialog = _page_action(staff_page, "Quarantine…")
    dialog.get_by_role("button", name="Quarantine").click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    dialog.get_by_label("Reason").fill("poison")
    dialog.get_by_role("button", name="Quarantine").click()

    expect(staff_page.get_by_text("1 quarantined.")).to_be_visible()
    assert DeadLetterEntry.objects.get().failure_type == "MANUAL"
