"""Pages of a whole stack in a browser: signed in, and failing the test on any console message."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

from tests.support.stack import Stack


def cookies_of(stack: Stack, browser: Browser, home: str) -> Any:
    """Return a browser's state after the stack's administrator has signed in, on the way to
    `home`.
    """
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{stack.url}/admin/login/?next={home}")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(stack.secrets()["VALKYR_ADMIN_PASSWORD"])
    page.keyboard.press("Enter")
    page.wait_for_url(f"{stack.url}{home}")
    state = context.storage_state()
    context.close()
    return state


@contextmanager
def watched(stack: Stack, browser: Browser, state: Any) -> Iterator[Page]:
    """Yield a page of the stack; any console message fails the test."""
    context = browser.new_context(
        base_url=stack.url,
        storage_state=state,
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(80_000)
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda said: problems.append(f"{page.url}: {said.text}"))
    page.on("pageerror", lambda error: problems.append(f"{page.url}: {error}"))
    yield page
    context.close()
    assert problems == []
