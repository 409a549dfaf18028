"""The documentation site in a browser: a search, diagrams, and nothing from other sites."""

import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.one_page import LOOKS
from tests.support.site import PROJECT, built, mermaid

DOCS = PROJECT / "docs"
FENCE = "```mermaid\n"
DRAWN = [page for page in sorted(DOCS.rglob("*.md")) if FENCE in page.read_text()]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def drawing() -> Path | None:
    return mermaid()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, drawing: Path | None) -> Iterator[str]:
    folder = built(tmp_path_factory.mktemp("site"), VALKYR_MERMAID=str(drawing or ""))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Page]:
    """Yield a page that fails the test if it sends requests to another site."""
    context = browser.new_context(**LOOKS)
    page = context.new_page()
    asked: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            asked.append(request.url)

    page.on("request", note)
    yield page
    context.close()
    assert asked == []


def test_a_search_finds_the_page_of_a_word(visitor: Page, address: str) -> None:
    visitor.goto(f"{address}/index.html")
    # The search listens to keys, and `fill` presses none.
    visitor.get_by_role("textbox", name="Search").press_sequentially("PgBouncer")

    found = visitor.locator(".md-search-result__link", has_text="Behind PgBouncer")
    found.first.click()

    expect(visitor).to_have_url(re.compile("/how-to/pgbouncer.html"))


@pytest.mark.parametrize("page", DRAWN, ids=lambda page: page.stem)
def test_every_drawing_of_a_page_is_drawn(
    visitor: Page, address: str, drawing: Path | None, page: Path
) -> None:
    if drawing is None:
        reason = "Mermaid could not be had from the npm registry"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    visitor.goto(f"{address}/{page.relative_to(DOCS).with_suffix('.html')}")

    # A drawing replaces its text when it is done; an invalid one stays as text.
    expect(visitor.locator("div.mermaid")).to_have_count(page.read_text().count(FENCE))
    expect(visitor.locator("pre.mermaid")).to_have_count(0)


def test_a_page_leads_to_each_of_the_four_parts(visitor: Page, address: str) -> None:
    visitor.goto(f"{address}/index.html")

    tabs = visitor.locator(".md-tabs__link")

    expect(tabs).to_have_text(["Valkyr", "FAQ", "Tutorial", "How-to", "Reference", "Explanation"])
