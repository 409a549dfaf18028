"""The page that tests share, and its reset for each test.

Opening a page costs Chromium more than showing one: a process, and loading and compiling every
script. So tests share a page, in which nothing of another test is left: no cookies, storage,
permissions, routes, other pages, size, theme or position of the mouse. A test that changes what
cannot be reset (a clock, a script for every page) needs the mark `own_page`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib.staticfiles.storage import staticfiles_storage
from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize

SIZE: ViewportSize = {"width": 1440, "height": 900}
# One size, no motion.
LOOKS: dict[str, Any] = {"viewport": SIZE, "reduced_motion": "reduce", "color_scheme": "light"}
# Waits may be long: the machine may be busy.
PATIENCE = 80_000  # milliseconds
# The first page of a run also makes the server and the browser load everything.
FIRST_LOAD = 120_000  # milliseconds
# Of the same origin, so that its storage can be emptied; without scripts and without a session.
RESTING = "executions/api-docs.css"


class OnePage:
    """Lends a page, and creates a new one after a test whose state could not be removed."""

    def __init__(self, browser: Browser, home: str) -> None:
        self.browser = browser
        self.home = home
        self.page: Page | None = None

    @contextmanager
    def own(self) -> Iterator[Page]:
        """Open a new page that no other test uses."""
        page = self._new()
        yield page
        page.context.close()

    @contextmanager
    def lent(self) -> Iterator[Page]:
        """Lend the page to one test."""
        page, self.page = self.page or self._new(), None
        page.set_default_timeout(PATIENCE)
        try:
            yield page
            _leave(page, self.home)
            _forget(page.context)
        except Error:
            page.context.close()
            raise
        self.page = page

    def _new(self) -> Page:
        page = self.browser.new_context(**LOOKS).new_page()
        page.set_default_timeout(PATIENCE)
        page.set_default_navigation_timeout(FIRST_LOAD)
        return page

    def close(self) -> None:
        """Close the page, if there is one."""
        if self.page is not None:
            self.page.context.close()


def _leave(page: Page, home: str) -> None:
    """Stop the page from watching what the test watched, and reset its appearance."""
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.unroute_all()
    page.context.unroute_all()
    page.context.set_offline(False)
    page.goto(f"{home}{staticfiles_storage.url(RESTING)}")
    page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.emulate_media(
        media="null", color_scheme=LOOKS["color_scheme"], reduced_motion=LOOKS["reduced_motion"]
    )
    page.set_viewport_size(SIZE)
    page.mouse.move(-10, -10)


def _forget(context: BrowserContext) -> None:
    """Clear what a context stores, except its cached files."""
    context.clear_cookies()
    context.clear_permissions()
