"""The workflows printed on our pages can be published as they stand, and links lead somewhere."""

import re
from pathlib import Path

import pytest

from executions.definition.catalog import catalog
from executions.definition.graph.document import load_text, normalise
from executions.definition.graph.validation import problems

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.md"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *EXAMPLES]
BLOCK = re.compile(r"```yaml\n(schema: valkyr/1\n.*?)```", re.DOTALL)
PIECE = re.compile(r"```yaml\n((?!schema:).*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FILE = re.compile(
    r"`((?:executions|runners|dlq|valkyr_project|valkyr_plugins|tests|docs|examples)/[\w/.-]*)`"
)
SELECTION = re.compile(r"make test ARGS=\"-k ('[^']+'|\w+)\"")
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
    pieces = PIECE.findall((ROOT / "docs" / "workflows.md").read_text())

    assert pieces
    assert [piece for piece in pieces if not any(lines(piece) in text for text in known)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_between_pages_leads_somewhere(path: Path) -> None:
    broken = []
    for target, anchor in LINK.findall(path.read_text()):
        file = (path.parent / target).resolve() if target else path
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}")

    assert broken == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_a_page_names_is_there(path: Path) -> None:
    named = set(FILE.findall(path.read_text()))

    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_proof_a_page_names_is_a_test(path: Path) -> None:
    names = {
        name
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    words = {
        word
        for selection in SELECTION.findall(path.read_text())
        for word in selection.strip("'").split(" or ")
    }

    assert [word for word in sorted(words) if not any(word in name for name in names)] == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "adr").glob("*.md")), ids=lambda path: path.name
)
def test_a_decision_fits_on_forty_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 40


def anchors(page: Path) -> set[str]:
    """GitHub's names for a page's headings."""
    titles = HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
