"""The language switch in the user menu changes the pages' language, in a real browser."""

from typing import Any

import pytest

from tests.browser.pictures import picture
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
    picture(page, f"home-{language}")
    for address in ("dlq/failuregroup/", "executions/workflowexecution/", "dlq/deadletterentry/"):
        page.goto(f"{page.home}/admin/{address}")
        picture(page, f"{address.split('/')[1]}-{language}")
    page.locator("#result_list tbody th a").first.click()
    page.wait_for_load_state()
    picture(page, f"dead-letter-{language}")
