"""The language switch in the user menu changes the pages' language, in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture
from tests.support import admin_rows as rows
from valkyr_project.up.failing_processes import VARIABLE


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


@pytest.mark.parametrize(
    ("language", "failing", "hide"),
    [
        ("de", "Ein Prozess dieser Installation schlägt fehl: beat (1).", "Ausblenden"),
        ("es", "Un proceso de esta instalación falla: beat (1).", "Ocultar"),
    ],
)
def test_the_notice_about_a_failing_process_is_translated(
    staff_page: Any, monkeypatch: pytest.MonkeyPatch, language: str, failing: str, hide: str
) -> None:
    monkeypatch.setenv(VARIABLE, "/nowhere/failing.json")
    health = {"components": {"processes": {"status": "DOWN", "found": "beat (1)"}}}
    page = staff_page
    page.route("**/actuator/health", lambda route: route.fulfill(json=health))
    page.context.add_cookies([{"name": "django_language", "value": language, "url": page.home}])
    notice = page.locator("#vk-health")
    for address in ("/admin/", "/studio/"):
        page.goto(f"{page.home}{address}")
        expect(notice).to_contain_text(failing)
        notice.get_by_role("button", name=hide).click()
        expect(notice).to_have_count(0)
