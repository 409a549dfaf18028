"""The home page of two servers: tabs, totals, and what it shows when one of them is dead."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.core.cache import cache
from django.db import connections
from playwright.sync_api import expect

from executions.database.routing import serving
from executions.models import Workflow
from tests.browser.conftest import serving_pages
from tests.browser.pictures import picture, picture_in_both
from tests.plugins.figures.busy_day import busy_day
from tests.support import admin_rows as rows
from tests.support.accessibility import findings_in_both
from tests.support.cell_databases import CELL
from tests.support.cell_server import cell_server
from valkyr_project.embedded import Postgres

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", CELL])
PHONE = {"width": 390, "height": 844}


class TwoServers(NamedTuple):
    """The second server, and the address of pages that serve both."""

    server: Postgres
    home: str


@pytest.fixture(name="two", scope="module")
def _two(server: str, django_db_blocker: Any) -> Iterator[TwoServers]:
    with django_db_blocker.unblock(), cell_server() as made, serving_pages() as address:
        connections[CELL].settings_dict["CONN_MAX_AGE"] = 0
        with serving(CELL):
            busy_day(rows.workflow())
        connections.close_all()
        yield TwoServers(made, address)


@pytest.fixture(name="quiet", autouse=True)
def _quiet(transactional_db: None) -> Workflow:
    """Publish a workflow in the first database, without executions."""
    cache.clear()
    return rows.workflow()


def test_the_home_page_switches_between_cells(two: TwoServers, staff_page: Any) -> None:
    staff_page.goto(f"{two.home}/admin/")
    tabs = staff_page.get_by_role("navigation", name="Cells")
    expect(tabs.get_by_role("link", name="First database")).to_have_attribute(
        "aria-current", "page"
    )
    expect(staff_page.get_by_text("No executions yet")).to_be_visible()

    tabs.get_by_role("link", name="Cell b").click()

    expect(staff_page).to_have_url(f"{two.home}/admin/?")
    expect(tabs.get_by_role("link", name="Cell b")).to_have_attribute("aria-current", "page")
    chart = staff_page.get_by_role("img", name="Completed executions by state")
    expect(chart).to_be_visible()
    panel = staff_page.get_by_role("region", name="All cells")
    total = panel.get_by_role("row").filter(has_text="Total")
    expect(total.get_by_role("cell").nth(2)).to_have_text(
        panel.get_by_role("row").filter(has_text="Cell b").get_by_role("cell").nth(2).inner_text()
    )
    picture_in_both(staff_page, "cells")
    assert findings_in_both(staff_page) == []
    staff_page.set_viewport_size(PHONE)
    picture_in_both(staff_page, "cells-phone")


def test_the_home_page_names_a_dead_cell_and_leads_back_to_the_others(
    two: TwoServers, staff_page: Any
) -> None:
    two.server.stop()
    try:
        staff_page.goto(f"{two.home}/admin/")
        panel = staff_page.get_by_role("region", name="All cells")
        expect(panel.get_by_text("not available")).to_be_visible()
        expect(panel.get_by_text("without b")).to_be_visible()
        picture_in_both(staff_page, "cells-dead")
        assert findings_in_both(staff_page) == []

        staff_page.get_by_role("navigation", name="Cells").get_by_text("Cell b").click()
        expect(staff_page.get_by_role("heading", level=1)).to_have_text(
            "The database of the cell b is not available"
        )
        picture(staff_page, "cells-dead-page")
        staff_page.get_by_role("link", name="Back to the dashboard").click()
        expect(staff_page.get_by_role("region", name="All cells")).to_be_visible()
        staff_page.problems[:] = [one for one in staff_page.problems if "503" not in one]
    finally:
        two.server.start()
        connections.close_all()
