"""Elements of the studio's page, by their names."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser.studio.canvas import node


def modules(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Modules")


def details(page: Page) -> Locator:
    return page.get_by_role("complementary", name="Details")


def pane(page: Page) -> Locator:
    """Return the background of the canvas."""
    return page.locator(".react-flow__pane")


def field(page: Page, label: str) -> Locator:
    """Return a field of the form, of any kind."""
    of = details(page)
    named = re.compile(rf"^{re.escape(label)}( ?, required)?$")
    return of.get_by_role("combobox", name=named).or_(of.get_by_role("textbox", name=named)).first


def draft_is(page: Page, word: str) -> None:
    expect(page.get_by_role("status", name="Draft")).to_contain_text(word)


def run_is(page: Page, word: str) -> None:
    """Wait until the run on screen has this state; the stack's workers may be busy."""
    bar = page.get_by_role("region", name="Run", exact=True)
    expect(bar.get_by_role("status", name="Execution state")).to_contain_text(word, timeout=240_000)


def tasks_are(page: Page, states: dict[str, Any]) -> None:
    """Wait until the nodes show these states."""
    for task, word in states.items():
        expect(node(page, task)).to_contain_text(word)


def workflow_of(page: Page) -> str:
    """Return the id of the workflow whose editor is open."""
    found = re.search(r"/studio/([0-9a-f-]{36})/", page.url)
    assert found is not None, page.url
    return found[1]
