"""The workflows printed on the documentation's pages can be published unchanged, and links work."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from executions.definition.catalog import catalog
from executions.definition.graph.document import load_text, normalise
from executions.definition.graph.validation import problems

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.md"))
BESIDE = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md")
]
PAGES = [*BESIDE, *sorted((ROOT / "docs").rglob("*.md")), *EXAMPLES]
BLOCK = re.compile(r"```yaml\n(schema: valkyr/1\n.*?)```", re.DOTALL)
PIECE = re.compile(r"```yaml\n((?!schema:).*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FILE = re.compile(
    r"`((?:executions|runners|dlq|valkyr_project|valkyr_plugins|tests|docs|examples)/[\w/.-]*)`"
)
# A page as comments, messages, alerts and settings name it: by its path in the repository.
NAMED = re.compile(r"(?<![\w./-])(docs/[\w/-]+\.(?:md|json))(?:#([\w-]+))?")
SOURCES = (".ci", "deploy", "dlq", "examples", "executions", "runners", "tests", "valkyr_*")
WRITTEN_BY_HAND = {
    "", ".conf", ".css", ".html", ".in", ".js", ".py", ".sh", ".sql", ".toml", ".ts", ".tsx",
    ".txt", ".yaml", ".yml",
}  # fmt: skip
# A page gives the whole command, or says it once and then gives its arguments.
FAULTS = re.compile(r"`(?:make chaos ARGS=\")?--only ([a-z,-]+)[ \"`]")
MADE = re.compile("/(?:node_modules|static/executions/studio|support/axe)/")
SELECTION = re.compile(r"(?:make test ARGS=\"|`)-k ('[^']+'|\w+)[\"`]")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def printed() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for text in BLOCK.findall(page.read_text()):
            name = re.search(r"^name: (.+)$", text, re.MULTILINE)
            assert name, f"{page}: a workflow without a name"
            found.append((f"{page.name}:{name[1]}", text))
    return found


@pytest.mark.parametrize(("name", "text"), printed(), ids=lambda value: value.split("\n")[0])
def test_a_printed_workflow_can_be_published(name: str, text: str) -> None:
    document = normalise(load_text(text, content_type="application/yaml"))

    assert problems(document, catalog()) == [], name


def test_every_piece_of_a_workflow_stands_in_an_example() -> None:
    def lines(text: str) -> str:
        return "\n".join(line.split("  #")[0].strip() for line in text.strip().splitlines())

    known = [lines(path.read_text()) for path in (ROOT / "examples").glob("*/*.yaml")]
    pieces = PIECE.findall((ROOT / "docs" / "how-to" / "workflows.md").read_text())

    assert pieces
    assert [piece for piece in pieces if not any(lines(piece) in text for text in known)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_every_link_of_the_changelog_leads_somewhere() -> None:
    assert broken_links(ROOT / "CHANGELOG.md") == []


def test_every_page_that_code_names_is_there() -> None:
    named = [
        (str(file.relative_to(ROOT)), page, anchor)
        for file in written_by_hand()
        for page, anchor in NAMED.findall(file.read_text())
    ]

    assert len(named) > 50
    assert [
        (file, page, anchor)
        for file, page, anchor in named
        if not (ROOT / page).exists() or (anchor and anchor not in anchors(ROOT / page))
    ] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_a_page_names_is_there(path: Path) -> None:
    named = set(FILE.findall(path.read_text()))

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_proof_a_page_names_is_a_test(path: Path) -> None:
    # pytest's -k matches the names of files too.
    names = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in (file.name, *re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE))
    }
    words = {
        word
        for selection in SELECTION.findall(path.read_text())
        for word in selection.strip("'").split(" or ")
    }

    assert [word for word in sorted(words) if not any(word in name for name in names)] == []


def test_every_fault_a_page_names_is_one_of_chaos() -> None:
    known = set(
        re.findall(r'^    "([a-z-]+)",$', _sources(ROOT / "tests/chaos/faults"), re.MULTILINE)
    )
    named = {
        slug
        for page in PAGES
        for slugs in FAULTS.findall(page.read_text())
        for slug in slugs.split(",")
    }

    assert len(named) > 15
    assert sorted(named - known) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "explanation" / "adr").glob("*.md")), ids=lambda path: path.name
)
def test_a_decision_fits_on_forty_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 40


def _sources(folder: Path) -> str:
    return "\n".join(file.read_text() for file in sorted(folder.glob("*.py")))


def broken_links(path: Path) -> list[str]:
    broken = []
    for target, anchor in LINK.findall(path.read_text()):
        file = (path.parent / target).resolve() if target else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}")
    return broken


def written_by_hand() -> Iterator[Path]:
    """Yield the files of the project except pages, and except built and installed files."""
    for folder in SOURCES:
        for path in ROOT.glob(f"{folder}/**/*"):
            if path.is_file() and path.suffix in WRITTEN_BY_HAND and not MADE.search(str(path)):
                yield path
    yield from (path for path in ROOT.glob("*") if path.suffix in {".in", ".toml", ".yml"})
    yield ROOT / "Makefile"


def anchors(page: Path) -> set[str]:
    """Return GitHub's anchors for a page's headings."""
    titles = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
