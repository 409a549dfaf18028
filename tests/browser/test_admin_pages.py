"""Every admin page in a real browser, under the Content-Security-Policy, without a console
message.
"""

from typing import Any

import pytest
from django.contrib import admin
from django.core.cache import cache
from playwright.sync_api import expect

from dlq.models import DeadLetterEntry
from tests.support import admin_rows as rows

PASSWORD = "correct horse battery staple"
# Locators find no text in scripts, so the script runs in the page.
MADE_OF_DATA = """() => {
  const all = (selector, said) =>
    [...document.querySelectorAll(selector)].filter((one) => said.test(one.textContent));
  const made = [...all("b", /bold/i), ...all("script:not([type='application/json'])", /alert/i)];
  return made.map((one) => one.outerHTML);
}"""


def _visit(page: Any, address: str) -> None:
    answer = page.goto(f"{page.home}{address}")
    assert answer.status == 200, f"{address} answered {answer.status}"
    policy = answer.headers["content-security-policy"]
    assert "unsafe-eval" not in policy
    assert "script-src 'self';" in policy or policy.rstrip(";").endswith("script-src 'self'")


def _lists() -> list[tuple[str, Any]]:
    return [
        (f"/admin/{model._meta.app_label}/{model._meta.model_name}/", model)
        for model in admin.site._registry
    ]


def test_a_person_signs_in_through_the_form(quiet_page: Any, django_user_model: Any) -> None:
    django_user_model.objects.create_superuser("op", password=PASSWORD)
    _visit(quiet_page, "/admin/login/")

    quiet_page.get_by_label("Username").fill("op")
    quiet_page.get_by_label("Password").fill(PASSWORD)
    quiet_page.get_by_role("button", name="Log in").click()

    expect(quiet_page).to_have_url(f"{quiet_page.home}/admin/")
    expect(quiet_page.get_by_text("No executions yet")).to_be_visible()


def test_every_page_of_an_empty_installation_is_quiet(staff_page: Any) -> None:
    _visit(staff_page, "/admin/")
    for address, _ in _lists():
        _visit(staff_page, address)


def test_every_list_and_page_with_rows_is_quiet_and_shows_hostile_payloads_as_text(
    staff_page: Any,
) -> None:
    rows.one_of_each(rows.workflow())
    _visit(staff_page, "/admin/")
    _shows_text_alone(staff_page)
    for address, model in _lists():
        _visit(staff_page, address)
        _shows_text_alone(staff_page)
        row = model._default_manager.first()
        if row is not None:
            _visit(staff_page, f"{address}{row.pk}/change/")
            _shows_text_alone(staff_page)
    dead = DeadLetterEntry.objects.get()
    for address in (
        f"/admin/executions/workflowexecution/{dead.execution_id}/change/",
        f"/admin/runners/run/{dead.run_id}/change/",
    ):
        _visit(staff_page, address)
        _shows_text_alone(staff_page)
    expect(staff_page.get_by_text("größe").first).to_be_visible()


def _shows_text_alone(page: Any) -> None:
    """Check that no text from the rows' data became markup of the page."""
    assert page.evaluate(MADE_OF_DATA) == []


def test_every_form_for_adding_is_quiet(staff_page: Any) -> None:
    for name in ("workflow", "workspace", "tier", "membership", "serviceaccount"):
        _visit(staff_page, f"/admin/executions/{name}/add/")
    for name in ("user", "group"):
        _visit(staff_page, f"/admin/auth/{name}/add/")
    _visit(staff_page, "/admin/password_change/")


def test_the_theme_can_be_switched(staff_page: Any) -> None:
    staff_page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    _visit(staff_page, "/admin/")
    expect(staff_page.locator("html")).to_have_class("dark")


def test_a_page_that_is_not_there_says_so_in_words(staff_page: Any) -> None:
    answer = staff_page.goto(f"{staff_page.home}/admin/nowhere/")

    assert answer.status == 404
    expect(staff_page.get_by_role("heading", name="Page not found")).to_be_visible()
    # Chromium itself reports the status of the page it loads.
    staff_page.problems[:] = [p for p in staff_page.problems if "404" not in p]


@pytest.mark.own_page
def test_the_dashboard_renews_itself(staff_page: Any) -> None:
    staff_page.clock.install()
    _visit(staff_page, "/admin/")
    expect(staff_page.get_by_text("No executions yet")).to_be_visible()
    rows.execution(rows.workflow())
    cache.clear()

    staff_page.clock.run_for(16_000)

    expect(staff_page.get_by_text("No executions yet")).to_be_hidden()
    staff_page.get_by_role("button", name="Pause updates").click()
    expect(staff_page.get_by_role("button", name="Resume updates")).to_be_visible()
