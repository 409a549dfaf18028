"""The site equals the pages in the repository, and works without the network."""

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from tests.support.site import PROJECT, build, built

BLOCKS = ("h1", "h2", "h3", "h4", "ol", "ul", "li", "table", "tr", "td", "pre")
DOCS = PROJECT / "docs"
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "deploy/README.md")
PAGES = sorted(
    [
        *DOCS.rglob("*.md"),
        *(PROJECT / "examples").rglob("README.md"),
        *(PROJECT / name for name in OUTSIDE),
    ]
)
# What a browser loads by itself; links that users may follow are not included.
FETCHED = re.compile(
    r'(?:<(?:script|img|iframe)[^>]*\ssrc|<link[^>]*\shref)="?((?:https?:)?//[^">]*)'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("site"))


def shown(site: Path, page: Path) -> str:
    """Return the page's text on the site."""
    path = page.relative_to(DOCS if page.is_relative_to(DOCS) else PROJECT)
    if path == Path("README.md"):
        path = Path("about.md")
    path = path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")
    text = (site / path).read_text()
    return text[text.index("<article") : text.index("</article>")]


def blocks(html: str) -> Counter[str]:
    # Code is coloured in a table-free box of its own; its contents are no block.
    found = re.findall(r"<(\w+)[ >]", re.sub(r"(<pre)[ >].*?</pre>", r"\1>", html, flags=re.DOTALL))
    return Counter(tag for tag in found if tag in BLOCKS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_a_page_has_the_blocks_on_the_site_that_it_has_on_github(site: Path, page: Path) -> None:
    there = MarkdownIt("commonmark").enable("table").render(page.read_text())

    assert blocks(shown(site, page)) == blocks(there)


def test_a_list_that_goes_on_after_a_paragraph_goes_on_counting(site: Path) -> None:
    text = shown(site, PROJECT / "docs/explanation/code.md")

    assert re.findall(r"<ol([^>]*)>", text) == ["", ' start="8"']


def test_no_page_of_the_site_loads_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))

    assert len(pages) > len(PAGES)
    assert {
        page.name: found for page in pages if (found := FETCHED.findall(page.read_text()))
    } == {}


def test_a_link_to_a_page_outside_docs_leads_to_its_page_on_the_site(site: Path) -> None:
    text = shown(site, DOCS / "how-to" / "workflows.md")

    assert 'href="../examples/price-check/index.html"' in text


def test_a_link_that_leads_nowhere_and_a_page_of_no_menu_fail_the_build(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for name in (".ci", "docs", "examples", "deploy"):
        shutil.copytree(PROJECT / name, copy / name)
    for name in (*OUTSIDE, "LICENSE", "mkdocs.yml"):
        shutil.copy(PROJECT / name, copy / name)
    for page, link in (
        ("docs/index.md", "how-to/nothing.md"),
        ("examples/price-check/README.md", "../../docs/how-to/workflows.md#no-such-heading"),
        ("CONTRIBUTING.md", "nowhere.md"),
    ):
        with (copy / page).open("a") as file:
            file.write(f"\n[there]({link})\n")
    (copy / "docs" / "how-to" / "lonely.md").write_text("# Lonely\n")

    done = build(copy, tmp_path / "site")

    assert done.returncode != 0
    for named in ("how-to/nothing.md", "#no-such-heading", "nowhere.md", "how-to/lonely.md"):
        assert named in done.stderr, done.stderr
