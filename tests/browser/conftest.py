"""A real Chromium and the real ASGI application, served by uvicorn in a thread.

pytest-django's live_server is not used, because it is WSGI. The Content-Security-Policy is under
test, so nothing bypasses it, and every console message fails the test that caused it.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Error, Playwright, expect, sync_playwright

from tests.browser.one_page import LOOKS, PATIENCE, OnePage
from tests.support.chromium import REASON, chromium_path
from tests.support.prepared_home import prepared_home
from tests.support.stack import Stack
from tests.support.static_files import collected
from valkyr_project.http.asgi_middleware import Gate

CHROMIUM = chromium_path()
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
UNANSWERED = 120.0  # seconds
expect.set_options(timeout=PATIENCE)


class UnderWay:
    """An ASGI application that knows how many requests it is answering."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.count = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.count += 1
        try:
            await self.application(scope, receive, send)
        finally:
            self.count -= 1

    def wait(self) -> None:
        """Wait until no request is left: pages send requests in the background, and tests empty the
        database.

        The hub of live states may still be reading when its last request has ended.
        """
        from executions.live.hub import at_rest

        deadline = time.monotonic() + UNANSWERED
        while self.count or not at_rest():
            assert time.monotonic() < deadline, f"{self.count} requests are still under way"
            time.sleep(0.02)


UNDER_WAY: list[UnderWay] = []


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark this folder's tests, skip them if there is no browser, and run them last, so that
    Chromium starts once per process.

    They are moved to the end after all other hooks, which sort by fixtures. A test of a whole stack
    has its own process anyway, and takes so long that it must not begin last.
    """
    for item in filter(_is_ours, items):
        item.add_marker(pytest.mark.browser)
        # WhiteNoise gives ASGI a synchronous iterator, once a static file.
        item.add_marker(
            pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume synchronous")
        )
        if CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason=REASON))
    yield
    items.sort(key=lambda item: _is_ours(item) and "whole_stack" not in item.fixturenames)


def _is_ours(item: pytest.Item) -> bool:
    return item.nodeid.startswith("tests/browser/")


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Run Playwright until this folder's tests have ended, because its event loop would disturb
    other tests.
    """
    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="package")
def browser(
    playwright: Playwright, browser_name: str, browser_type_launch_args: dict[str, Any]
) -> Iterator[Browser]:
    """Run one Chromium for all tests of the folder."""
    made: Browser = getattr(playwright, browser_name).launch(**browser_type_launch_args)
    yield made
    made.close()


@pytest.fixture(scope="package")
def whole_stack(pytestconfig: pytest.Config) -> Iterator[Stack]:
    """Run a whole stack, as `make up` starts it, for all browser tests that need one."""
    extra = {"VALKYR_PYTHON_CODE": "1"} | collected()
    with prepared_home(pytestconfig) as home, Stack(home, extra) as up:
        up.wait_ready(300)
        yield up


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Return the path and the flags of the installed Chromium."""
    return {"executable_path": CHROMIUM, "args": FLAGS}


@pytest.fixture(scope="session")
def browser_context_args() -> dict[str, Any]:
    """Return the context's options: one size, no motion."""
    return LOOKS


@pytest.fixture(scope="session")
def server(django_db_setup: None, static_files: None) -> Iterator[str]:
    """Serve the application as in production; yield its address."""
    with serving_pages() as address:
        yield address


@contextmanager
def serving_pages() -> Iterator[str]:
    """Serve the application with the middleware of the settings; yield its address."""
    # Playwright's synchronous API leaves an event loop in this thread.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    from django.db import connections

    from valkyr_project.http.handler import Handler

    # No connection may outlive its request, or the test database cannot be dropped.
    connections["default"].settings_dict["CONN_MAX_AGE"] = 0
    application: Any = Gate(Handler(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    UNDER_WAY.insert(0, UnderWay(application))
    config = uvicorn.Config(
        UNDER_WAY[0], lifespan="off", log_level="warning", timeout_graceful_shutdown=1
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 10
    while not running.started:
        assert time.monotonic() < deadline, "uvicorn did not start within 10 s"
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    running.should_exit = True
    thread.join(5)
    listener.close()
    UNDER_WAY.pop(0)


@pytest.fixture(scope="package")
def one_page(server: str, browser: Browser) -> Iterator[OnePage]:
    """Yield the page that tests share."""
    lender = OnePage(browser, server)
    yield lender
    lender.close()


@contextmanager
def console_of(page: Any) -> Iterator[list[str]]:
    """Yield the messages on a page's console, as sentences."""
    problems: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # Chromium's advice, such as that on autocomplete in Django's password form.
        if not message.text.startswith("[DOM]"):
            problems.append(f"{page.url}: {message.text}")

    def note_error(error: Error) -> None:
        problems.append(f"{page.url}: {error}")

    page.on("console", note)
    page.on("pageerror", note_error)
    yield problems
    page.evaluate("() => 0")  # earlier messages are handled before the answer
    page.remove_listener("console", note)
    page.remove_listener("pageerror", note_error)


@pytest.fixture
def quiet_page(
    request: pytest.FixtureRequest, one_page: OnePage, server: str, transactional_db: None
) -> Iterator[Any]:
    """Yield a page that fails the test on any console message, including CSP violations."""
    cache.clear()
    alone = request.node.get_closest_marker("own_page") is not None
    page: Any
    with one_page.own() if alone else one_page.lent() as page:
        page.home = server
        with console_of(page) as problems:
            page.problems = problems
            yield page
    UNDER_WAY[0].wait()
    assert problems == []


@pytest.fixture
def staff_page(quiet_page: Any, django_user_model: Any) -> Any:
    """Return a page signed in as a superuser called op."""
    user = django_user_model.objects.create_superuser("op")
    client = Client()
    client.force_login(user)
    quiet_page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": quiet_page.home}]
    )
    return quiet_page
