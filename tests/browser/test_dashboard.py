"""The first page in a browser: figures, ranges, updates, keyboard, small screens and dark theme."""

import re
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse
from playwright.sync_api import expect

from executions.models import Workflow
from tests.browser.acting import page_action
from tests.browser.pictures import picture, picture_in_both
from tests.plugins.figures.busy_day import busy_day
from tests.support import admin_rows as rows
from tests.support.accessibility import findings, findings_in_both

RENEWED = 16_000


@pytest.fixture
def busy(transactional_db: None) -> Workflow:
    """Create a day with failures, a live worker, and a queue without a worker."""
    workflow = rows.workflow()
    busy_day(workflow)
    return workflow


def running(page: Any) -> Any:
    """Return the number on the first card."""
    return page.locator(".vk-card", has_text="Running").locator(".vk-card-number")


def test_the_first_page_shows_figures_and_changes_its_range(
    busy: Workflow, staff_page: Any
) -> None:
    staff_page.goto(f"{staff_page.home}/admin/")
    chart = staff_page.get_by_role("img", name="Completed executions by state")
    expect(chart).to_be_visible()
    expect(staff_page.get_by_text("No worker serves this queue")).to_be_visible()
    picture(staff_page, "dashboard")

    staff_page.get_by_role("link", name="7 days", exact=True).click()

    expect(staff_page).to_have_url(f"{staff_page.home}/admin/?range=7d")
    chosen = staff_page.get_by_role("link", name="7 days", exact=True)
    expect(chosen).to_have_attribute("aria-current", "page")


# The kinds of lines and bars without a colour of their own.
UNPAINTED = """() => [...document.querySelectorAll("[class^='vk-line-'], [class^='vk-fill-']")]
  .filter((one) => {
    const { fill, stroke } = getComputedStyle(one);
    const usual = one.className.baseVal.startsWith("vk-line-") ? stroke : fill;
    return usual === "none" || usual === "rgb(0, 0, 0)";
  })
  .map((one) => one.className.baseVal)"""


def test_every_line_bar_and_mark_of_the_charts_has_a_colour(
    busy: Workflow, staff_page: Any
) -> None:
    staff_page.goto(f"{staff_page.home}/admin/")
    expect(staff_page.locator(".vk-legend-mark .vk-line-p95").first).to_be_attached()

    assert staff_page.locator(".vk-plot-area [class^='vk-line-']").count() > 0
    assert staff_page.evaluate(UNPAINTED) == []


def _note_figures(request: Any, asked: list[str]) -> None:
    """Record the page's own requests, without the icon, which the browser requests at any time."""
    if "/static/" not in request.url:
        asked.append(request.url)


@pytest.mark.own_page
def test_the_figures_are_renewed_in_their_range_only_while_somebody_looks(
    busy: Workflow, staff_page: Any
) -> None:
    page = staff_page
    page.clock.install()
    page.goto(f"{page.home}/admin/?range=7d")
    page.get_by_text("Show as tables").click()
    rows.execution(busy)
    cache.clear()

    page.clock.run_for(RENEWED)

    expect(running(page)).to_have_text("2")
    chosen = page.get_by_role("link", name="7 days", exact=True)
    expect(chosen).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("region", name="Completed executions as a table")).to_be_visible()

    asked: list[str] = []
    page.on("request", lambda request: _note_figures(request, asked))
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.clock.run_for(4 * RENEWED)
    assert asked == []
    expect(page.get_by_role("button", name="Resume updates")).to_have_count(0)

    page.evaluate("() => { delete document.hidden }")
    with page.expect_response("**/admin/?range=7d"):
        page.clock.run_for(RENEWED)
    assert len(asked) == 1, "in sight again, it asks again"
    page.get_by_role("button", name="Pause updates").click()
    page.clock.run_for(4 * RENEWED)
    assert len(asked) == 1
    expect(page.get_by_role("button", name="Resume updates")).to_have_count(1)


def test_ranges_cards_and_tables_are_reached_by_keyboard(busy: Workflow, staff_page: Any) -> None:
    staff_page.goto(f"{staff_page.home}/admin/")
    staff_page.get_by_role("link", name="1 hour", exact=True).focus()
    for _ in range(4):
        staff_page.keyboard.press("Tab")
    expect(staff_page.locator(":focus")).to_have_attribute("id", "card-1")
    for _ in range(5):
        staff_page.keyboard.press("Tab")
    expect(staff_page.locator(":focus")).to_have_text("Select a period")
    staff_page.keyboard.press("Tab")
    expect(staff_page.locator(":focus")).to_have_text("Show as tables")

    staff_page.keyboard.press("Enter")

    table = staff_page.get_by_role("region", name="Completed executions as a table")
    expect(table).to_be_visible()
    staff_page.keyboard.press("Tab")
    expect(table).to_be_focused()


def centre_of(page: Any, chart: str, slot: int, slots: int) -> tuple[float, float]:
    """Return the centre of a chart's slot on the screen."""
    plot = page.get_by_role("group", name=chart).locator(".vk-plot-area")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    return box["x"] + (slot + 0.5) * box["width"] / slots, box["y"] + box["height"] / 2


@pytest.mark.own_page
def test_a_period_dragged_over_one_chart_is_that_of_all_numbers_and_lists(
    busy: Workflow, staff_page: Any
) -> None:
    page = staff_page
    page.clock.install()
    page.goto(f"{page.home}/admin/")
    failed = page.locator(".vk-card", has_text="Failed")
    whole = failed.locator(".vk-card-number").text_content()

    page.mouse.move(*centre_of(page, "Failure rate", 22, 24))
    page.mouse.down()
    page.mouse.move(*centre_of(page, "Failure rate", 18, 24))
    page.clock.run_for(RENEWED)  # nothing is renewed below the pointer
    page.mouse.up()

    expect(page).to_have_url(re.compile(r"/admin/\?from=[\d-]+T\d\d%3A00Z&to=[\d-]+T\d\d%3A00Z$"))
    expect(page.locator("#charts-clear")).to_be_visible()
    for plot in page.locator(".vk-plot-area").all():
        expect(plot.locator("[data-side=before]")).to_have_attribute("width", "450.0")
        expect(plot.locator("[data-side=after]")).to_have_attribute("width", "25.0")
    picture(page, "dashboard-period")
    part = failed.locator(".vk-card-number").text_content()
    assert 0 < int(part) < int(whole)

    with page.expect_response("**/admin/?from=*"):
        page.clock.run_for(RENEWED)
    expect(page.locator("#charts-clear")).to_be_visible()
    expect(failed.locator(".vk-card-number")).to_have_text(part)

    failed.click()
    expect(page.locator("#result_list tbody tr")).to_have_count(int(part))
    assert findings(page) == []
    picture(page, "executions-period")
    page.go_back()
    page.locator("#charts-clear").click()
    expect(failed.locator(".vk-card-number")).to_have_text(whole)


def test_a_period_is_selected_by_keyboard(busy: Workflow, staff_page: Any) -> None:
    staff_page.goto(f"{staff_page.home}/admin/?range=7d")
    staff_page.get_by_text("Select a period", exact=True).click()

    staff_page.get_by_label("From (UTC)").select_option(index=24)
    staff_page.get_by_label("To (UTC)").select_option(index=25)
    staff_page.get_by_role("button", name="Select", exact=True).click()

    expect(staff_page.locator("#charts-clear")).to_be_visible()
    before = staff_page.locator("[data-side=before]").first
    expect(before).to_have_attribute("width", f"{24 * 600 / 28:.1f}")


def test_pages_of_figures_are_accessible_and_fit_a_phone(busy: Workflow, staff_page: Any) -> None:
    figures = reverse("admin:executions_workflow_figures", args=[busy.pk])
    for name, address in (("dashboard", "/admin/?range=7d"), ("workflow-figures", figures)):
        staff_page.set_viewport_size({"width": 1440, "height": 900})
        staff_page.goto(f"{staff_page.home}{address}")
        for fold in staff_page.locator("details[data-keep] summary").all():
            fold.click()
        assert findings_in_both(staff_page) == []
        picture_in_both(staff_page, name)
        staff_page.set_viewport_size({"width": 390, "height": 844})
        assert staff_page.evaluate("document.documentElement.scrollWidth") <= 390
        picture_in_both(staff_page, f"{name}-small")


def test_a_workflow_leads_to_its_figures(busy: Workflow, staff_page: Any) -> None:
    staff_page.goto(f"{staff_page.home}/admin/executions/workflow/{busy.pk}/change/")

    page_action(staff_page, "Figures").click()

    expect(staff_page.get_by_role("heading", name="Slowest steps")).to_be_visible()
    expect(staff_page.get_by_role("heading", name="Versions")).to_be_visible()
