"""A whole stack with the demo's partner, and a browser signed in to it."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.studio.journeys.api import Api
from tests.browser.watched import cookies_of, watched
from tests.support.stack import Stack
from valkyr_project.demo.partner import PartnerServer


@pytest.fixture(scope="package")
def stack(whole_stack: Stack) -> Stack:
    """Return a whole stack, as `make up` starts it."""
    return whole_stack


@pytest.fixture(scope="package")
def partner() -> Iterator[PartnerServer]:
    """Run the demo's partner, which reserves, charges and ships."""
    server = PartnerServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def api(stack: Stack) -> Api:
    """Return the stack's API, as its administrator."""
    return Api(stack)


@pytest.fixture(scope="package")
def signed_in(stack: Stack, browser: Browser) -> Any:
    """Return the cookies of the stack's administrator."""
    return cookies_of(stack, browser, "/studio/")


@pytest.fixture
def desk(stack: Stack, browser: Browser, signed_in: Any) -> Iterator[Page]:
    """Yield a page that fails the test on any console message."""
    with watched(stack, browser, signed_in) as page:
        yield page
