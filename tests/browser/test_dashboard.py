"""The first page in a browser: figures, ranges, renewal, keyboard, small and dark."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from executions.clock import database_now
from executions.models import Workflow
from runners.models import Runner
from tests.browser.pictures import picture
from tests.support import admin_rows as rows
from tests.support.figure_rows import busy_day


@pytest.fixture
def busy(transactional_db: None) -> Workflow:
    """A day with failures, a live worker, a queue that nobody serves."""
    workflow = rows.workflow()
    busy_day(workflow)
    return workflow


def test_the_first_page_shows_figures_and_changes_its_range(
    busy: Workflow, staff_page: Any
) -> None:
    staff_page.goto(f"{staff_page.home}/admin/")
    chart = staff_page.get_by_role("img", name="Executions that ended, by state")
    expect(chart).to_be_visible()
    expect(staff_page.get_by_text("no worker takes them")).to_be_visible()
    picture(staff_page, "dashboard")

    staff_page.get_by_role("link", name="7 days", exact=True).click()

    expect(staff_page).to_have_url(f"{staff_page.home}/admin/?range=7d")
    expect(staff_page.get_by_role("link", name="7 days", exact=True)).to_have_attribute(
        "aria-current", "page"
    )
    picture(staff_page, "dashboard-7d")
    staff_page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    staff_page.goto(f"{staff_page.home}/admin/?range=1h")
    picture(staff_page, "dashboard-dark")
    staff_page.set_viewport_size({"width": 390, "height": 844})
    picture(staff_page, "dashboard-small")
    wide = staff_page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
