"""Pages work in a browser that blocks its storage."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support import admin_rows as rows

ENTRIES = "/admin/dlq/deadletterentry/"
BLOCKED = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, {
    get() { throw new DOMException("The storage is blocked.", "SecurityError"); },
  });"""
# Unfold's theme says that it keeps its choice until the page is closed.
OF_ALPINE = ("The storage is blocked", "Alpine: $persist is using temporary storage")


@pytest.mark.own_page
def test_a_list_works_without_the_browsers_storage(staff_page: Any) -> None:
    run = rows.run(rows.execution(rows.workflow(), "FAILED"), "charge.main")
    rows.dead_letter(run, fingerprint="0" * 64)
    staff_page.add_init_script(BLOCKED)
    errors: list[str] = []
    staff_page.on("pageerror", lambda error: errors.append(str(error)))
    assert staff_page.goto(f"{staff_page.home}{ENTRIES}").status == 200
    here = staff_page.locator("tr.vk-here")

    staff_page.keyboard.press("j")
    expect(here).to_have_count(1)
    staff_page.keyboard.press("?")
    shown = staff_page.get_by_role("dialog", name="Shortcuts")
    shown.get_by_label("Enable single-key shortcuts").uncheck()
    shown.get_by_role("button", name="Close").click()
    staff_page.keyboard.press("?")
    expect(shown).to_be_hidden()

    live = staff_page.locator("[data-live] [data-toggle]")
    live.click()
    expect(live).to_have_attribute("aria-pressed", "true")
    live.click()
    expect(live).to_have_attribute("aria-pressed", "false")

    assert errors == []
    assert all(any(one in said for one in OF_ALPINE) for said in staff_page.problems)
    staff_page.problems.clear()
