"""The language switch of the user's menu, in a real browser."""

from typing import Any

import pytest

from tests.support import admin_rows as rows


@pytest.mark.parametrize(
    ("language", "home"), [("Deutsch", "Offene Dead Letters"), ("español", "Dead letters abiertas")]
)
def test_a_person_chooses_the_language_in_the_menu(
    staff_page: Any, language: str, home: str
) -> None:
    rows.one_of_each(rows.workflow())
    page = staff_page
    page.goto(f"{page.home}/admin/")
    page.locator("text=unfold_more").first.click()
    page.get_by_role("button", name=language).click()

    page.get_by_text(home).first.wait_for()
    assert page.locator("html").get_attribute("lang") == language[:2].lower()
