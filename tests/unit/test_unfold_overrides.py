"""Valkyr's overrides of Unfold are written for exact files; a new version must be noticed."""

import hashlib
import re
from itertools import pairwise
from pathlib import Path

import pytest
import unfold

UNFOLD = Path(unfold.__file__).parent
OURS = Path(__file__).parents[2] / "valkyr_project"

SYMBOLS = "static/unfold/fonts/material-symbols/Material-Symbols-Outlined.woff2"
# A file of Unfold 0.91.0 and the beginning of the SHA-256 of what our override was made for.
MADE_FOR = {
    "templates/unfold/layouts/skeleton.html": "66af9f0bb45f98ba4e16ba5e5a11f36d87b8e074",
    "static/unfold/js/alpine/alpine.js": "3ed1eed252488921df65e363d6715deb04d7f92a",
    "static/unfold/js/app.js": "be01a34d18a89dc961f6d96e8f5a98c5fa53553c",
    "templates/unfold/helpers/actions_row.html": "a322f5b53d779840b820c8f8707123a0065c30cb",
    "templates/unfold/helpers/tab_action.html": "6728db375499fab64160280c1ac2740eadc79af8",
    "templates/unfold/helpers/header_title.html": "b126ed2ab9ca16802d6763f49a74ba37b5bab125",
    "templates/unfold/helpers/app_list.html": "6ab83ac498b2f50ff045b7abcf2254391ccea9de",
    "templates/unfold/helpers/search.html": "91996c27181d14ade8b4cbf84d90a4b0d293fdd9",
    "templates/unfold/helpers/command.html": "ae6ce324d85366131fc82945b3c35c1b98082922",
    "templates/unfold/helpers/empty_results.html": "5f4727a37a99da76e245048c8c7d7307ded9fe74",
    "templates/unfold/helpers/pagination_default.html": "a6c793aea686e443a7fc8a42cb4197361b7789c9",
    "templates/admin/index.html": "9fdb849b7da18ccde0e5dda19234658307187007",
    # Of which tools/fonts.py makes the small ones.
    "static/unfold/fonts/inter/styles.css": "42a7607af5d57dc0fabd91a8f1c89291a106ffad",
    "static/unfold/fonts/inter/Inter-Regular.woff2": "e06f6b1bc553aaea4e4668023ed0ab0a147129c3",
    SYMBOLS: "3561c9446adfd6d0b08bc7c2bced0f6497fc51c2",
}
ICON = re.compile(
    r"""material-symbols-outlined[^>]*>\s*([a-z][a-z0-9_]+)\s*<"""
    r"""|\bicon(?:=|": )"([a-z][a-z0-9_]+)\""""
    # The icon and colour of a state, and an entry of the navigation.
    r"""|"([a-z][a-z0-9_]+)", "(?:amber|blue|green|grey|orange|purple|red|yellow)"\)"""
    r"""|_list_of\(\s*lazy\("[^"]+"\),\s*"([a-z][a-z0-9_]+)\""""
)
ALPINE_CSP_3_17_4 = "0d18d7f8d7910e2e0212f0f056b12f50bebc3abb"


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:40]


@pytest.mark.parametrize("name", MADE_FOR)
def test_the_overridden_file_of_unfold_is_the_one_our_override_was_made_for(name: str) -> None:
    found = _checksum(UNFOLD / name)
    assert found == MADE_FOR[name], (
        f"unfold/{name} has changed. Compare it with our override in {OURS}, carry the changes "
        f"over, run tests/browser, then write {found} here."
    )


def test_alpine_is_the_csp_build_as_published() -> None:
    alpine = OURS / "overrides/unfold/js/alpine/alpine.js"

    assert _checksum(alpine) == ALPINE_CSP_3_17_4


def test_the_skeleton_differs_from_unfolds_in_scripts_and_fonts_alone() -> None:
    theirs = (UNFOLD / "templates/unfold/layouts/skeleton.html").read_text()
    ours = (OURS / "templates/unfold/layouts/skeleton.html").read_text()

    added = set(_lines(ours)) - set(_lines(theirs))
    assert sorted(line.split()[0] for line in added) == [
        *["<link"] * 4,  # fonts, earlier
        "<script",  # what is seen first
        *["{#"] * 3,
        *["{%"] * 3,  # fonts only if signed in, failing processes, and the body's x-data
    ]
    gone = {line for line in _lines(theirs) if line.startswith("<script")} - set(_lines(ours))
    assert [re.findall(r"(\w+\.\w+\.js|\w+/chart\.js)", line) for line in sorted(gone)] == [
        ["alpine.sort.js"], ["chart/chart.js"],
    ]  # fmt: skip


def _lines(skeleton: str) -> list[str]:
    """Return the lines of a skeleton, without the attributes that say when a script runs."""
    return [
        line.strip().replace(" defer>", ">").replace("</script>", "")
        for line in skeleton.splitlines()
        if line.strip()
    ]


def test_the_small_font_has_every_icon_that_a_page_names() -> None:
    fonts = OURS / "overrides/unfold/fonts/material-symbols"
    kept = set((fonts / "icons.txt").read_text().split())
    folders = ("executions", "runners", "dlq", "valkyr_project", "valkyr_plugins")
    files = [
        path
        for folder in (*(OURS.parent / name for name in folders), UNFOLD / "templates")
        for path in folder.rglob("*")
        if path.suffix in {".py", ".html"} and "node_modules" not in path.parts
    ]
    named = {
        name for path in files for found in ICON.findall(path.read_text()) for name in found if name
    }

    assert len(named) > 50
    assert named - kept == set(), "run tools/fonts.py"


def test_each_character_is_in_one_file_of_a_weight() -> None:
    """Each character is in only one file of a weight: a browser fetches every file whose range has
    a character of the page.
    """
    styles = (OURS / "overrides/unfold/fonts/inter/styles.css").read_text()
    ranges: dict[str, list[tuple[int, int]]] = {}
    for weight, listed in re.findall(
        r"font-weight: (\d+);.*?unicode-range: ([^;]+);", styles, re.DOTALL
    ):
        for one in listed.split(","):
            first, _, last = one.strip().removeprefix("U+").partition("-")
            ranges.setdefault(weight, []).append((int(first, 16), int(last or first, 16)))

    assert set(ranges) == {"400", "500", "600", "700"}
    for found in ranges.values():
        ordered = sorted(found)
        assert (ordered[0][0], ordered[-1][1]) == (0, 0x10FFFF)
        for (_, end), (begin, _) in pairwise(ordered):
            assert begin == end + 1
