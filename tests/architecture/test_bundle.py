"""The studio's committed bundle is built from its sources, is small, and satisfies Valkyr's CSP.

The test needs no Node: `BUILD.json`, which the build writes, holds the hashes of inputs and
outputs.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
FRONTEND = PROJECT / "executions" / "frontend"
BUNDLE = PROJECT / "executions" / "static" / "executions" / "studio"
# As in build-facts.mjs.
ROOTS = ("src", "package-lock.json", "package.json", "tsconfig.json", "vite.config.mjs")
STALE = "The studio's bundle is older than its sources. Run `make studio` and commit the result."
# Bytes of everything a browser fetches for a page, compressed.
BUDGETS = {"studio": 300_000, "monitor": 220_000}
LANGUAGE_BUDGET = 16_000
LICENCES = {"MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
# Code that evaluates text, which `script-src 'self'` forbids.
EVALUATION = re.compile(r"(?<![\w$.])(?:eval\s*\(|(?:new\s+)?Function\s*\()")


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    """Return the facts that the build reported about itself."""
    path = BUNDLE / "BUILD.json"
    assert path.exists(), f"{path} is missing. Run `make studio` and commit the result."
    said = json.loads(path.read_text())
    assert isinstance(said, dict)
    return said


def hash_of_sources() -> str:
    """Return the hash of each path and its content, ended by zero bytes, sorted by path, as in
    build-facts.mjs.
    """
    found = (file for name in ROOTS for file in files_of(FRONTEND / name))
    told = hashlib.sha256()
    for path in sorted(file.relative_to(FRONTEND).as_posix() for file in found):
        told.update(path.encode() + b"\0" + (FRONTEND / path).read_bytes() + b"\0")
    return told.hexdigest()


def files_of(path: Path) -> Iterator[Path]:
    """Yield the file itself, or all files below a folder."""
    return (file for file in path.rglob("*") if file.is_file()) if path.is_dir() else iter([path])


def built() -> list[Path]:
    return [path for path in files_of(BUNDLE) if path.name != "BUILD.json"]


def test_the_bundle_is_built_from_these_sources(facts: dict[str, Any]) -> None:
    assert facts["sources"] == hash_of_sources(), STALE


def test_nothing_in_the_bundle_was_changed_by_hand(facts: dict[str, Any]) -> None:
    there = {
        path.relative_to(BUNDLE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in built()
    }

    assert there == facts["files"], STALE


@pytest.mark.usefixtures("facts")
@pytest.mark.parametrize(("page", "budget"), BUDGETS.items())
def test_a_browser_fetches_little_for_a_page(page: str, budget: int) -> None:
    fetched = [path for path in built() if path.suffix in {".js", ".css"}]
    mine = [path for path in fetched if re.split(r"[-.]", path.name)[0] in {page, "shared"}]
    sizes = {path.name: len(gzip.compress(path.read_bytes(), 9)) for path in mine}

    assert set(sizes) >= {f"{page}.js", f"{page}.css", "shared.css"}
    assert sum(sizes.values()) <= budget, sizes


@pytest.mark.usefixtures("facts")
def test_what_no_page_names_has_a_name_of_its_own_in_every_build() -> None:
    """Files that no page names have a different name in every build: the shared chunk, the
    bundler's own few lines, and a chunk for each language.
    """
    names = {path.name for path in built() if path.suffix in {".js", ".css"}}

    named = {"studio.js", "studio.css", "monitor.js", "monitor.css", "shared.css"}
    assert sorted(re.sub(r"-[\w-]{8}\.", ".", name) for name in names - named) == [
        "language-de.js",
        "language-es.js",
        "shared.js",
        "shared.js",
    ]


@pytest.mark.usefixtures("facts")
def test_a_language_costs_little_and_needs_no_other_file() -> None:
    languages = list(BUNDLE.glob("language-*.js"))

    assert len(languages) == 2
    for path in languages:
        assert len(gzip.compress(path.read_bytes(), 9)) <= LANGUAGE_BUDGET, path.name
        # The page waits for its language before it runs: a chunk with imports would wait for it.
        assert "import" not in path.read_text().split("=", 1)[0], path.name


@pytest.mark.usefixtures("facts")
def test_no_map_leads_back_to_the_sources() -> None:
    for path in built():
        assert path.suffix != ".map"
        assert b"sourceMappingURL" not in path.read_bytes(), path.name


@pytest.mark.usefixtures("facts")
def test_no_script_makes_code_of_text() -> None:
    for path in BUNDLE.rglob("*.js"):
        text = path.read_text()
        found = [text[max(0, m.start() - 60) : m.end() + 60] for m in EVALUATION.finditer(text)]
        assert found == [], path.name


@pytest.mark.usefixtures("facts")
def test_all_that_is_bundled_may_be_given_away() -> None:
    named = re.findall(
        r"^## (\S+) - \S+ \((.+)\)$", (BUNDLE / "LICENSES.md").read_text(), re.MULTILINE
    )

    assert {name for name, _ in named} >= {"react", "react-dom", "@xyflow/react", "zustand"}
    assert {name: licence for name, licence in named if licence not in LICENCES} == {}
