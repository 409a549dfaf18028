"""The admin without Unfold, in a real Chromium: triage, dialogs, executions, the studio."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.projects.conftest import Running
from tests.projects.people.seed_words import PASSWORD
from tests.support.chromium import REASON, chromium_path

CHROMIUM = chromium_path()
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)
# A folder for pictures of each test's last page, if wanted.
PICTURES = os.environ.get("VALKYR_TEST_PICTURES", "")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason=REASON),
]


@pytest.fixture(scope="module", name="chromium")
def _chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(name="page")
def _page(chromium: Browser, people: Running, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Yield a signed-in administrator's page; errors on it fail the test."""
    page = chromium.new_page(
        viewport={"width": 1360, "height": 900}, base_url=people.project.address
    )
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            wrong.append(message.text)

    page.on("console", heard)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto("/admin/")
    page.fill("#id_username", "ada@example.org")
    page.fill("#id_password", PASSWORD)
    page.click("input[type=submit]")
    yield page
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{request.node.name}.png", full_page=True)
    page.close()
    assert wrong == []


def open_first(page: Page, listing: str) -> None:
    """Open the first object of a list."""
    page.goto(listing)
    page.locator("#result_list tbody th a, #result_list tbody td a").first.click()


def test_the_projects_own_pages_are_as_they_were(page: Page) -> None:
    page.goto("/admin/people/person/")
    expect(page.locator("#result_list th", has_text="Team")).to_be_visible()
    expect(page.locator(".object-tools .addlink")).to_be_visible()
    page.goto("/admin/auth/group/")
    expect(page.locator(".object-tools .addlink")).to_be_visible()
    page.goto("/admin/django_celery_beat/periodictask/")
    expect(page.locator(".object-tools .addlink")).to_be_visible()
    page.goto("/admin/")
    expect(page.locator("#content-main").get_by_role("link", name="API tokens")).to_be_visible()


def test_groups_are_redriven_by_one_form(page: Page) -> None:
    page.goto("/admin/dlq/failuregroup/?status=all")
    expect(page.locator(".vk-tabs .vk-tab-count").first).to_be_visible()
    page.locator("#action-toggle").check()
    page.select_option("select[name=action]", label="Redrive…")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("heading", name="Redrive failure groups")).to_be_visible()
    page.get_by_label("Canary").fill("1")
    page.get_by_role("button", name="Create drafts").click()

    expect(page.locator(".messagelist")).to_contain_text("created.")


def test_a_dead_letter_is_discarded_from_its_page(page: Page) -> None:
    page.goto("/admin/dlq/deadletterentry/")
    page.locator("#result_list tbody a[href*='/change/']").first.click()
    address = page.url
    page.locator(".object-tools").get_by_role("link", name="Discard…", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^Discard"))).to_be_visible()
    page.locator("#dialog textarea, #dialog input[type=text]").first.fill("seen in the browser")
    page.locator("#dialog button[type=submit]").click()

    expect(page.locator(".messagelist")).to_contain_text("1 discarded.")
    assert page.url == address


def test_a_refused_dialog_says_why_and_leads_back(page: Page) -> None:
    open_first(page, "/admin/executions/workflowexecution/")
    pk = page.url.split("/")[-3]
    page.goto(f"/admin/executions/workflowexecution/{pk}/resume/")

    expect(page.locator("#dialog [role=alert]")).to_be_visible()
    expect(page.get_by_role("link", name="Back", exact=True)).to_be_visible()


def test_ticked_rows_are_asked_about_before_anything_happens(page: Page) -> None:
    page.goto("/admin/dlq/failuregroup/?status=all")
    page.locator("#action-toggle").check()
    page.select_option("select[name=action]", label="Acknowledge…")
    page.get_by_role("button", name="Go").click()
    expect(page.get_by_role("heading", name="Acknowledge")).to_be_visible()
    page.get_by_role("button", name="Acknowledge").click()

    expect(page.locator(".messagelist")).to_contain_text("acknowledged")


def test_rows_have_a_menu_of_what_can_be_done(page: Page) -> None:
    page.goto("/admin/dlq/failuregroup/?status=all")
    page.locator(".vk-rows summary").first.click()
    page.locator(".vk-rows").first.get_by_role("link", name="Add note…").click()
    page.locator("#dialog textarea").fill("Looked at it.")
    page.get_by_role("button", name="Note").click()
    page.locator("#result_list tbody a[href*='/change/']").first.click()

    expect(page.locator("section[aria-label=Notes]")).to_contain_text("Looked at it.")


def test_filters_of_triage_narrow_the_list(page: Page) -> None:
    page.goto("/admin/dlq/deadletterentry/?resolution=all")
    page.locator(".vk-fold summary", has_text="Filters").click()
    page.locator("#filter-module").fill("no.such")
    page.locator(".vk-fold").first.get_by_role("button", name="Apply").click()

    expect(page.locator(".vk-chips")).to_contain_text("no.such")
    expect(page.locator("#result_list")).to_have_count(0)


def test_the_trail_is_filtered_by_name_and_day(page: Page) -> None:
    page.goto("/admin/executions/activity/")
    page.locator("#changelist-filter input[name=who]").fill("ada@example.org")
    page.locator("#changelist-filter input[name=who]").press("Enter")
    expect(page.locator("#result_list")).to_contain_text("account.sign_in")
    page.locator("#changelist-filter input[name=created_at_to]").fill("2020-01-01")
    page.locator("#changelist-filter input[name=created_at_to]").press("Enter")

    expect(page).to_have_url(re.compile("who=ada"))
    expect(page.locator("#result_list")).to_have_count(0)


def test_a_token_is_shown_once_and_copied(page: Page) -> None:
    page.goto("/admin/executions/apitoken/")
    page.locator(".object-tools").get_by_role("link", name="New token…").click()
    page.locator("input[name=name]").fill("from the browser")
    page.get_by_role("button", name="Create token").click()

    expect(page.locator("[role=status]")).to_contain_text("vlk_")
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.locator("#result_list")).to_contain_text("from the browser")


def test_an_execution_draws_the_graph_and_opens_dialogs(page: Page) -> None:
    open_first(page, "/admin/executions/workflowexecution/?state=all")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class(re.compile("dark"))
    expect(page.locator(".vk-search")).not_to_contain_text("The execution")
    assert page.evaluate("document.body.scrollWidth <= window.innerWidth")
    page.locator(".object-tools").get_by_role("link", name="Replay…").click()

    expect(page.get_by_role("heading", name=re.compile("^Replay"))).to_be_visible()


def test_the_studio_opens_a_workflow(page: Page) -> None:
    page.goto("/studio/")
    page.get_by_role("link", name="chain").click()

    expect(page.locator(".react-flow__node")).to_have_count(2)


def test_a_workflow_is_written_published_and_run_from_its_page(page: Page) -> None:
    page.goto("/admin/executions/workflow/add/")
    page.select_option("select[name=workspace]", label="Default")
    page.locator("input[name=name]").fill("By hand")
    page.locator("textarea[name=draft]").fill(
        "schema: valkyr/1\nname: By hand\ntasks:\n- {id: one, use: flow.noop}\n"
    )
    page.get_by_role("button", name="Save and continue editing").click()
    page.locator(".object-tools").get_by_role("link", name="Publish…").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.locator(".messagelist")).to_contain_text("1 published.")
    page.goto("/admin/executions/workflow/?q=By+hand")
    page.locator(".vk-rows summary").first.click()
    page.locator(".vk-rows").first.get_by_role("link", name="Run…").click()
    page.get_by_role("button", name="Run").click()

    expect(page.locator(".messagelist")).to_contain_text("1 started.")
    expect(page).to_have_url(re.compile("/workflowexecution/"))
