"""Triage in a browser: lists, tabs, filters by path, saved views, keyboard, small screens and dark
theme.
"""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone
from playwright.sync_api import expect

from dlq.models import DeadLetterEntry, FailureGroup, GroupHour, GroupNote, SavedView
from executions.models import Workflow
from tests.browser.pictures import picture, picture_in_both
from tests.support import admin_rows as rows
from tests.support.accessibility import findings_in_both

GROUPS = "/admin/dlq/failuregroup/"
ENTRIES = "/admin/dlq/deadletterentry/"


@pytest.fixture
def failures(transactional_db: None) -> list[DeadLetterEntry]:
    """Create three dead letters in two groups; the last one's inputs contain AT."""
    of = rows.workflow()
    made = []
    for step, country in (("charge", "DE"), ("charge", "DE"), ("ship", "AT")):
        ended = rows.execution(of, "FAILED", error_message="it failed")
        run = rows.run(ended, f"{step}.main", inputs={"order": {"country": country}})
        made.append(rows.dead_letter(run, fingerprint=f"{step:0<64}"))
    FailureGroup.objects.update(total=2, open=2)
    return made


def _open(page: Any, address: str) -> None:
    assert page.goto(f"{page.home}{address}").status == 200


def test_one_goes_from_groups_to_their_entries_and_filters_by_path(
    staff_page: Any, failures: list[DeadLetterEntry]
) -> None:
    _open(staff_page, GROUPS)
    expect(staff_page.get_by_text("2 failure groups")).to_be_visible()
    staff_page.get_by_role("link", name="Resolved", exact=True).click()
    expect(staff_page.get_by_text("0 failure groups")).to_be_visible()

    staff_page.get_by_role("link", name="Dead letters", exact=True).click()
    expect(staff_page.get_by_text("3 dead letters")).to_be_visible()
    staff_page.get_by_text("Filter by inputs").click()
    staff_page.get_by_label("Path in the inputs").fill("order..country")
    staff_page.get_by_label("Value").fill("AT")
    staff_page.get_by_role("button", name="Add").click()
    expect(staff_page.get_by_text("expected at most 12 names")).to_be_visible()
    staff_page.get_by_label("Path in the inputs").fill("order.country")
    staff_page.get_by_role("button", name="Add").click()

    expect(staff_page.get_by_text('inputs: order.country equals "AT"')).to_be_visible()
    expect(staff_page.get_by_text("1 dead letter", exact=False).first).to_be_visible()
    picture(staff_page, "triage-by-path")
    staff_page.get_by_role("link", name="Remove the filter inputs").click()
    expect(staff_page.get_by_text("3 dead letters")).to_be_visible()


def test_a_view_is_saved_and_deleted(staff_page: Any, failures: list[DeadLetterEntry]) -> None:
    _open(staff_page, f"{ENTRIES}?step=ship.main")
    staff_page.get_by_text("Save this view").click()
    staff_page.get_by_label("Name", exact=True).fill("Shipping")
    staff_page.get_by_role("button", name="Save", exact=True).click()
    expect(staff_page.get_by_text("Saved the view Shipping.")).to_be_visible()

    _open(staff_page, ENTRIES)
    staff_page.get_by_role("link", name="Shipping", exact=True).click()
    expect(staff_page.get_by_text("1 dead letter", exact=False).first).to_be_visible()
    staff_page.get_by_role("button", name="Delete the view Shipping").click()
    expect(staff_page.get_by_text("Deleted the view Shipping.")).to_be_visible()
    assert not SavedView.objects.exists()


def test_a_group_is_opened_acknowledged_and_noted_by_keyboard_alone(
    staff_page: Any, failures: list[DeadLetterEntry]
) -> None:
    keys = staff_page.keyboard
    _open(staff_page, ENTRIES)
    keys.press("g")
    keys.press("g")
    # Keyboard shortcuts work once a page is loaded, which its address alone does not show.
    staff_page.wait_for_url(f"{staff_page.home}{GROUPS}")
    expect(staff_page.get_by_text("2 failure groups")).to_be_visible()
    keys.press("j")
    keys.press("j")
    keys.press("k")
    keys.press("x")
    expect(staff_page.locator("input.action-select:checked")).to_have_count(1)
    first = staff_page.locator("input.action-select:checked").input_value()
    keys.press("Enter")
    staff_page.wait_for_url(f"{staff_page.home}{GROUPS}{first}/change/")

    keys.press("a")
    dialog = staff_page.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    keys.type("jx")  # letters, while one types
    keys.press("Enter")
    expect(staff_page.get_by_text("1 acknowledged.")).to_be_visible()
    staff_page.wait_for_load_state()
    keys.press("m")
    expect(dialog.get_by_label("Note")).to_be_focused()
    keys.type("asked the partner")
    keys.press("Tab")
    keys.press("Tab")
    expect(dialog.get_by_role("button", name="Note")).to_be_focused()
    keys.press("Enter")
    expect(staff_page.get_by_text("1 annotated.")).to_be_visible()

    assert FailureGroup.objects.get(pk=first).status == "ACKNOWLEDGED"
    assert GroupNote.objects.get().text == "asked the partner"


def test_keys_are_listed_and_can_be_switched_off(
    staff_page: Any, failures: list[DeadLetterEntry]
) -> None:
    _open(staff_page, ENTRIES)
    staff_page.keyboard.press("?")
    shown = staff_page.get_by_role("dialog", name="Shortcuts")
    expect(shown).to_be_visible()
    shown.get_by_label("Enable single-key shortcuts").uncheck()
    shown.get_by_role("button", name="Close").click()

    staff_page.reload()
    staff_page.keyboard.press("j")
    expect(staff_page.locator("tr.vk-here")).to_have_count(0)
    staff_page.get_by_role("button", name="Shortcuts").click()
    shown.get_by_label("Enable single-key shortcuts").check()
    shown.get_by_role("button", name="Close").click()
    staff_page.keyboard.press("j")
    expect(staff_page.locator("tr.vk-here")).to_have_count(1)
    staff_page.keyboard.press("r")
    expect(staff_page.get_by_role("dialog").get_by_label("Reason")).to_be_visible()


def test_triage_has_no_barriers_and_fits_a_small_screen(
    staff_page: Any, failures: list[DeadLetterEntry]
) -> None:
    pages = {
        "groups": GROUPS,
        "group": f"{GROUPS}{failures[0].group_id}/change/",
        "entries": f"{ENTRIES}?inputs=order.country:eq:%22DE%22&status=teapot",
        "nothing": f"{ENTRIES}?step=nowhere",
    }
    # Unfold's own header, search box and paging are the theme's.
    ours = ".vk-triage, .vk-stack, .vk-actions, #result_list"
    for name, address in pages.items():
        staff_page.set_viewport_size({"width": 390, "height": 844})
        _open(staff_page, address)
        assert staff_page.evaluate("document.documentElement.scrollWidth") <= 390
        picture(staff_page, f"triage-{name}-small")
        staff_page.set_viewport_size({"width": 1440, "height": 900})
        for fold in staff_page.locator("details.vk-fold > summary").all():
            fold.click()
        assert findings_in_both(staff_page, ours) == []
        picture_in_both(staff_page, f"triage-{name}")


CUT = """() => [...document.querySelectorAll("#result_list tbody tr > *")].filter((cell) => {
  const row = cell.parentElement.getBoundingClientRect(), box = cell.getBoundingClientRect();
  return cell.scrollWidth > cell.clientWidth + 1 || cell.scrollHeight > cell.clientHeight + 1
    || box.right > row.right + 1 || box.bottom > row.bottom + 1;
}).map((cell) => cell.className.split(" ")[0])"""
OVERLAPPING = """() => [...document.querySelectorAll("#result_list tbody tr")].flatMap((row) => {
  const boxes = [...row.querySelectorAll("a, time, svg, .vk-state, .vk-error-type, .vk-error-text")]
    .filter((one) => one.offsetParent !== null || one.ownerSVGElement === undefined)
    .map((one) => [one, one.getBoundingClientRect()]);
  return boxes.flatMap(([a, x], at) => boxes.slice(at + 1)
    .filter(([b, y]) => !a.contains(b) && x.left < y.right - 1 && y.left < x.right - 1
      && x.top < y.bottom - 2 && y.top < x.bottom - 2)
    .map(([b]) => `${a.textContent} / ${b.textContent}`));
})"""


def _fill(failures: list[DeadLetterEntry]) -> None:
    """Give the failures long names, an owner and high counts."""
    owner = get_user_model().objects.create_user("maria.montenegro")
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    for group in FailureGroup.objects.all():
        GroupHour.objects.create(group=group, hour=hour, count=98_765)
    FailureGroup.objects.update(
        total=98_765, open=12_345, owner=owner, muted=True, status="REGRESSED",
        place="validate-the-address-of-the-customer.check-the-postcode",
        message="the service did not answer in 30 s: https://partner.example/v1/addresses/check",
    )  # fmt: skip
    Workflow.objects.update(name="Order import of the north-west region")


def test_every_column_of_groups_fits_a_small_laptop_and_a_phone(
    staff_page: Any, failures: list[DeadLetterEntry]
) -> None:
    _fill(failures)
    for width, height in ((1280, 800), (390, 844)):
        staff_page.set_viewport_size({"width": width, "height": height})
        _open(staff_page, GROUPS)
        status = staff_page.get_by_role("row").filter(has_text="regressed").first
        expect(status.locator(".vk-state")).to_be_in_viewport(ratio=1)
        picture_in_both(staff_page, f"triage-full-{width}")
        table = staff_page.locator("#result_list")
        assert table.evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
        expect(staff_page.locator(".simplebar-track.simplebar-horizontal").first).to_be_hidden()
        assert staff_page.evaluate(OVERLAPPING) == []
        assert width > 1000 or staff_page.evaluate(CUT) == []


def test_a_time_is_said_once_and_a_sparkline_says_its_scale(
    staff_page: Any, failures: list[DeadLetterEntry]
) -> None:
    _fill(failures)
    _open(staff_page, GROUPS)

    row = staff_page.locator("#result_list tbody tr").first
    expect(row.locator("time")).to_have_count(1)
    expect(row.locator("time")).to_have_attribute("title", re.compile(r"^last: .* UTC\nfirst: "))
    expect(row.locator(".vk-trend")).to_contain_text("24 h, max 98,765")
    expect(row.get_by_role("img").first).to_have_accessible_name(
        "98,765 in the last 24 hours, at most 98,765 in one hour"
    )


def test_lists_are_filtered_and_acted_on_without_scripts(
    staff_page: Any, browser: Any, failures: list[DeadLetterEntry]
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(staff_page.context.cookies(staff_page.home))
    page = context.new_page()
    page.home = staff_page.home
    _open(page, ENTRIES)
    page.locator("summary", has_text="Filters").click()
    page.get_by_label("Step path").fill("ship.main")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("1 dead letter", exact=False).first).to_be_visible()

    _open(page, f"{GROUPS}{failures[0].group_id}/change/")
    page.get_by_role("link", name="Acknowledge…").click()
    page.get_by_role("button", name="Acknowledge").click()

    expect(page).to_have_url(f"{page.home}{GROUPS}{failures[0].group_id}/change/")
    assert FailureGroup.objects.get(pk=failures[0].group_id).status == "ACKNOWLEDGED"
    context.close()
