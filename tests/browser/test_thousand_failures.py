"""A thousand failures of four kinds arrive, and one operator repairs all of them from the home
page.

Workers, broker and database are real. Clicks are counted, and no click may have no effect. Each
station saves pictures if VALKYR_PICTURES names a folder.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from playwright.sync_api import expect

from dlq.models import DeadLetterEntry, FailureGroup
from runners.models import Run
from tests.browser.clicks import Clicks
from tests.browser.pictures import PICTURES, picture, picture_in_both
from tests.support.accessibility import findings
from tests.support.fleet import Fleet, redis_of_a_fleet
from tests.support.thousand_failures import KINDS, fail, workflow_of
from tests.support.waiting import wait_until
from tests.support.workflows import default_workspace
from valkyr_plugins.redrive.models import Redrive

MOST = 14
AGAIN = 120
OVERRIDES = '{"data": {"country": "GB"}}'
DRAINED = 120_000  # milliseconds
SIZES = {"1280": (1280, 900), "phone": (390, 844)}


@pytest.fixture
def fleet(staff_page: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Run a few real workers and beat on the tests' database; stop them before it is emptied."""
    default_workspace()
    with redis_of_a_fleet() as server:
        made = Fleet(tmp_path_factory.mktemp("drill"), server.url)
        made.worker("control", "control", "threads", 2)
        made.worker("default", "default", "threads", 4)
        made.beat()
        with made.running():
            yield made


def _open() -> int:
    return DeadLetterEntry.objects.filter(resolution="PENDING").count()


def _counted(expected: int) -> bool:
    """Return whether the counting duty has counted this number of open dead letters."""
    return sum(FailureGroup.objects.values_list("open", flat=True)) == expected


def _arrived(number: int) -> None:
    wait_until(lambda: _open() == number, 120, f"{number} dead letters")
    wait_until(lambda: _counted(number), 60, "the groups' counts")


def _home(page: Any) -> Clicks:
    cache.clear()  # the first page is cached for seconds
    assert page.goto(f"{page.home}/admin/").status == 200
    return Clicks(page)


def _station(page: Any, name: str) -> None:
    """Check that the page is accessible and does not scroll sideways at any size; save pictures."""
    assert findings(page) == [], name
    picture(page, f"drill-{name}")
    for size, (width, height) in SIZES.items():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        if PICTURES:
            picture_in_both(page, f"drill-{name}-{size}")
    page.set_viewport_size({"width": 1440, "height": 900})


def _worst(clicks: Clicks, wave: str) -> None:
    """Go from the home page to the group that grew most, and to one of its failures."""
    page = clicks.page
    growing = page.get_by_role("region", name="Fastest-growing failures")
    _station(page, f"{wave}-1-home")
    clicks.press(growing.get_by_role("link").first)
    newest = page.get_by_role("region", name="Newest dead letters")
    expect(newest).to_be_visible()
    _station(page, f"{wave}-2-group")
    clicks.press(newest.get_by_role("link").first)
    expect(page.get_by_role("region", name="Error")).to_contain_text("'UK' is not one of")
    inputs = page.get_by_role("region", name="Inputs", exact=True)
    expect(inputs.locator("mark.vk-suspect[title^=named]")).to_have_text('"UK"')
    expect(inputs).to_contain_text("data.country: named in the error")
    compared = page.get_by_role("region", name="Compared with the last successful run")
    expect(compared.get_by_role("row", name="inputs.data.country")).to_contain_text("changed")
    _station(page, f"{wave}-3-dead-letter")


def test_a_thousand_failures_of_four_kinds_are_repaired_from_the_home_page(
    staff_page: Any, fleet: Fleet
) -> None:
    page = staff_page
    workflows = {name: workflow_of(name) for name in KINDS}
    for name, count in KINDS.items():
        fail(workflows[name], count)
    total = sum(KINDS.values())
    _arrived(total)

    clicks = _home(page)
    _worst(clicks, "all")
    clicks.click("link", "Failures")
    expect(page.locator("#result_list tbody tr")).to_have_count(len(KINDS))
    _station(page, "all-4-failures")
    clicks.press(page.locator("#action-toggle"))
    clicks.choose(page.locator("select[name=action]"), "Redrive…")
    clicks.click("button", "Run")
    expect(page.get_by_label("Canary", exact=True)).to_have_value("10")
    clicks.fill("Overrides (JSON merge patch)", OVERRIDES)
    clicks.fill("Number of dead letters", str(total))
    _station(page, "all-5-redrive")
    clicks.click("button", "Start redrives")
    expect(page.get_by_text("4 redrives started.")).to_be_visible()
    for count in KINDS.values():
        row = page.locator("#result_list tr", has_text=f"{count} of {count}")
        expect(row).to_contain_text("done", timeout=DRAINED)
    _station(page, "all-6-redrives")
    assert _open() == 0
    wait_until(lambda: _counted(0), 60, "the groups' counts")
    cache.clear()
    clicks.click("link", "Home")
    expect(page.get_by_text("Nothing needs attention")).to_be_visible()
    assert clicks.count <= MOST
    assert clicks.dead_ends == []
    assert set(Redrive.objects.values_list("state", "canary")) == {("DONE", 10)}
    assert sum(Redrive.objects.values_list("succeeded", flat=True)) == total
    assert Run.objects.filter(step_path="book.main", state="SUCCESS").count() == total + len(KINDS)

    fail(workflows["Order import"], AGAIN, first=10_000)
    _arrived(AGAIN)
    _one_group(page)


def _one_group(page: Any) -> None:
    """Redrive one group from its own page, which shows the redrive until its end."""
    clicks = _home(page)
    _worst(clicks, "one")
    clicks.click("link", "Failure group")
    clicks.click("link", "Redrive…")
    clicks.fill("Overrides (JSON merge patch)", OVERRIDES)
    clicks.click("button", "Create draft")
    expect(page.get_by_role("region", name="Inputs before and after")).to_contain_text("GB")
    _station(page, "one-4-draft")
    clicks.click("link", "Start…")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Number of dead letters")).to_be_focused()
    clicks.type(str(AGAIN))
    clicks.click("button", "Start", dialog)
    expect(page.get_by_role("region", name="Progress")).to_be_visible()
    _station(page, "one-5-progress")
    clicks.press(page.locator(".vk-facts").get_by_role("link").first)

    under_way = page.get_by_role("region", name="Redrive", exact=True)
    expect(under_way).to_contain_text(
        f"{AGAIN} of {AGAIN} ended: {AGAIN} succeeded", timeout=DRAINED
    )
    expect(page.get_by_role("link", name="0 open")).to_be_visible()
    _station(page, "one-6-drained")
    assert clicks.count <= MOST
    assert clicks.dead_ends == []
