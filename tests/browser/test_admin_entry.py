"""A user reads one failure, compares it, and decides what to do, in a real browser, with the mouse
and by keyboard.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from dlq.models import DeadLetterEntry
from executions.models import Workflow
from tests.browser.acting import page_action
from tests.browser.pictures import picture_in_both
from tests.support import admin_rows as rows
from tests.support.accessibility import findings_in_both

LETTERS = "/admin/dlq/deadletterentry/"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def entry(transactional_db: None) -> DeadLetterEntry:
    """Create a failure with an earlier successful run, another failure of its group, logs and
    retries.
    """
    workflow = rows.workflow()
    _good_run(workflow)
    rows.failed_order(workflow)
    made = rows.failed_order(workflow)
    run = made.run
    type(run).objects.filter(pk=run.pk).update(
        leased_by="io@box-1",
        queued_at=run.queued_at,
        retry_after=run.queued_at + timedelta(seconds=9),
        started_at=run.queued_at + timedelta(seconds=14),
        logs=[{"ms": 12, "level": "info", "message": "asking the partner"}],
    )
    return made


def _good_run(workflow: Workflow) -> None:
    good = rows.run(
        rows.execution(workflow, "SUCCESS"),
        "charge.main",
        "SUCCESS",
        inputs={"url": "http://partner.test/charge", "body": {"amount": 5, "currency": "EUR"}},
        outputs={"id": "ch_1"},
    )
    before = timezone.now() - timedelta(hours=1)
    type(good.execution).objects.filter(pk=good.execution_id).update(created_at=before)


@pytest.fixture
def opened(staff_page: Any, entry: DeadLetterEntry) -> Any:
    """Open the entry's page."""
    answer = staff_page.goto(f"{staff_page.home}{LETTERS}{entry.pk}/change/")
    assert answer.status == 200
    return staff_page


def _act(page: Any, title: str) -> Any:
    page_action(page, title, exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def test_the_page_is_read_by_keyboard_and_the_difference_is_shown(opened: Any) -> None:
    expect(opened.get_by_text("Kept until it is resolved", exact=False)).to_be_visible()
    panel = opened.get_by_role("region", name="Compared with the last successful run")
    expect(panel.get_by_role("row", name="inputs.body.amount")).to_contain_text("changed")
    expect(panel.get_by_role("row", name="inputs.body.currency")).to_contain_text("removed")
    expect(panel.get_by_role("row", name="inputs.body.note")).to_contain_text("added")
    attempts = opened.get_by_role("region", name="Attempts")
    expect(attempts.get_by_role("img", name="backing off 9.00").first).to_be_visible()

    logs = opened.get_by_role("region", name="Logs of the run")
    logs.locator("summary").focus()
    opened.keyboard.press("Enter")
    expect(logs.get_by_text("asking the partner")).to_be_visible()


def test_another_failure_is_compared_by_its_link(opened: Any) -> None:
    opened.get_by_role("link", name="with this dead letter").click()

    panel = opened.get_by_role("region", name="Compared with another failure")
    expect(panel.get_by_text("No differences", exact=False)).to_be_visible()


def test_a_result_given_by_hand_is_refused_at_the_field_and_then_taken(
    opened: Any, entry: DeadLetterEntry
) -> None:
    dialog = _act(opened, "Fix with outputs…")
    expect(dialog.get_by_label("Outputs")).to_have_value('{\n  "id": "ch_1"\n}')
    dialog.get_by_label("Outcome").fill("left")
    dialog.get_by_role("button", name="Fix with outputs").click()
    expect(dialog.get_by_text('has no outcome "left"', exact=False)).to_be_visible()

    dialog.get_by_label("Outcome").fill("")
    dialog.get_by_role("button", name="Fix with outputs").click()
    expect(opened.get_by_text("1 fixed.")).to_be_visible()
    entry.refresh_from_db()
    assert entry.resolution == "FIXED"


GO_TO_OUTCOME = """() => {
  const frame = () => new Promise(requestAnimationFrame);
  window.gone = new Promise((done) => document.addEventListener("htmx:afterSettle", async () => {
    await frame();
    document.querySelector("#dialog [name=outcome]").focus();
    await frame();
    await frame();
    done(document.activeElement.name);
  }, { once: true }));
}"""


def test_who_goes_to_a_field_while_the_dialog_opens_stays_there(opened: Any) -> None:
    opened.evaluate(GO_TO_OUTCOME)

    _act(opened, "Fix with outputs…")

    assert opened.evaluate("() => window.gone") == "outcome"


def test_a_step_is_skipped_for_a_reason(opened: Any, entry: DeadLetterEntry) -> None:
    dialog = _act(opened, "Skip step…")
    dialog.get_by_role("button", name="Skip step").click()
    expect(dialog.get_by_text("This field is required.")).to_be_visible()
    dialog.get_by_label("Notes").fill("this order needs no charge")
    dialog.get_by_role("button", name="Skip step").click()

    expect(opened.get_by_text("1 skipped.")).to_be_visible()
    entry.refresh_from_db()
    assert (entry.resolution, entry.notes) == ("SKIPPED", "this order needs no charge")


def test_a_discard_is_taken_back_and_what_matters_is_pinned(
    opened: Any, entry: DeadLetterEntry
) -> None:
    dialog = _act(opened, "Discard…")
    dialog.get_by_label("Notes").fill("known")
    dialog.get_by_role("button", name="Discard").click()
    expect(opened.get_by_text("1 discarded.")).to_be_visible()
    expect(opened.get_by_text("Will be deleted on", exact=False)).to_be_visible()

    _act(opened, "Restore…").get_by_role("button", name="Restore").click()
    expect(opened.get_by_text("1 restored.")).to_be_visible()
    _act(opened, "Pin…").get_by_role("button", name="Pin").click()
    expect(opened.get_by_text("1 pinned.")).to_be_visible()
    expect(opened.get_by_text("Pinned: never deleted", exact=False)).to_be_visible()
    entry.refresh_from_db()
    assert (entry.resolution, entry.pinned) == ("PENDING", True)


def test_copies_are_copied_by_a_button(opened: Any) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])

    dialog = _act(opened, "Copy as curl")
    expect(dialog.locator("[data-copy]")).to_be_focused()
    opened.keyboard.press("Enter")
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    assert "--url 'http://partner.test/charge'" in opened.evaluate(
        "() => navigator.clipboard.readText()"
    )
    opened.keyboard.press("Escape")
    expect(
        _act(opened, "Copy as pytest").get_by_text("failing_module(MODULE", exact=False)
    ).to_be_visible()


@pytest.mark.parametrize("width", [1024, 1280])
def test_every_action_is_seen_beside_the_menu(opened: Any, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 800})

    assert opened.evaluate("() => document.documentElement.scrollWidth") == width
    expect(page_action(opened, "Reveal…")).to_be_in_viewport(ratio=1)


def test_the_page_has_no_findings_and_fits_a_phone(opened: Any) -> None:
    opened.evaluate("() => document.querySelectorAll('details').forEach((d) => (d.open = true))")
    picture_in_both(opened, "entry")
    assert findings_in_both(opened) == []

    opened.set_viewport_size(PHONE)
    picture_in_both(opened, "entry-phone")
    wide = opened.evaluate("() => document.documentElement.scrollWidth")
    assert wide <= PHONE["width"]
