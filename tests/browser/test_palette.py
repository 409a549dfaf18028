"""The command palette opens by a key, and finds objects, pages and the page's own actions."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture_in_both
from tests.support import admin_rows as rows
from tests.support.accessibility import findings_in_both

LETTERS = "/admin/dlq/deadletterentry/"


@pytest.fixture
def entry() -> Any:
    return rows.failed_order(rows.workflow())


def _open(page: Any, address: str = "/admin/") -> Any:
    assert page.goto(f"{page.home}{address}").status == 200
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search")
    expect(field).to_be_focused()
    return field


def test_an_id_is_typed_and_entered(staff_page: Any, entry: Any) -> None:
    field = _open(staff_page)

    field.fill(str(entry.pk))
    expect(staff_page.get_by_role("listbox").get_by_role("option").first).to_contain_text(
        "dead letter"
    )
    staff_page.keyboard.press("Enter")

    staff_page.wait_for_url(f"**{LETTERS}{entry.pk}/change/")
    # It is the first of the recent ones from now on.
    _open(staff_page)
    expect(staff_page.get_by_role("listbox").get_by_role("option").first).to_contain_text(
        "charge.main"
    )


def test_actions_of_the_page_are_offered(staff_page: Any, entry: Any) -> None:
    field = _open(staff_page, f"{LETTERS}{entry.pk}/change/")

    field.fill("disc")
    staff_page.get_by_role("option", name="Discard").click()

    dialog = staff_page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Discard")).to_be_visible()


def test_arrows_choose_and_escape_closes(staff_page: Any) -> None:
    _open(staff_page)
    options = staff_page.get_by_role("listbox").get_by_role("option")
    expect(options.first).to_have_attribute("aria-selected", "true")

    staff_page.keyboard.press("ArrowDown")
    expect(options.nth(1)).to_have_attribute("aria-selected", "true")
    staff_page.keyboard.press("ArrowUp")
    staff_page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")

    staff_page.keyboard.press("Escape")
    expect(staff_page.get_by_role("combobox", name="Search")).to_be_hidden()


def test_a_search_without_results_says_so(staff_page: Any) -> None:
    _open(staff_page).fill("no such thing at all")

    expect(staff_page.get_by_text("Nothing found.")).to_be_visible()


def test_the_button_opens_it_without_a_key(staff_page: Any) -> None:
    assert staff_page.goto(f"{staff_page.home}/admin/").status == 200

    staff_page.get_by_role("button", name="Search").click()

    expect(staff_page.get_by_role("option", name="Home")).to_be_visible()
    picture_in_both(staff_page, "palette")
    assert findings_in_both(staff_page) == []
