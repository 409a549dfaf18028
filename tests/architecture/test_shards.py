"""Shards: a file under 40 lines that only one other file imports belongs in that file.

Separate files are allowed for files that Django finds by their names, rooms that exist for a
boundary, pure modules (their docstrings say so), files for which their importer has no room, and
those of `APART`.
"""

import ast
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).parents[2]
APPS = ("valkyr", "valkyr_project", "executions", "runners", "dlq", "valkyr_plugins")
SHARD = 40
LONGEST = 400
# Others' private parts, public names, one model per file: these packages exist for the boundary.
BOUNDARIES = {"public", "vendor_seams", "models", "migrations", "management"}
FOUND_BY_NAME = {"apps", "checks", "urls", "tasks", "ports"}
APART = tomllib.loads(Path(__file__).with_name("shards_apart.toml").read_text())


@cache
def modules() -> dict[str, Path]:
    """Return every production module by its dotted name."""
    found = [file for app in APPS for file in (PROJECT / app).rglob("*.py")]
    return {
        ".".join(file.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in found
        if "node_modules" not in file.parts
    }


@cache
def importers() -> dict[str, set[str]]:
    """Return the modules that import each module, including imports within functions."""
    found = defaultdict(set)
    for name, file in modules().items():
        for node in ast.walk(ast.parse(file.read_text())):
            for imported in _imported(node):
                found[imported].add(name)
    return found


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name in modules()]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in modules() else node.module for name in names]
    return []


def lines(module: str) -> int:
    """Return the number of lines of the module's file."""
    return len(modules()[module].read_text().splitlines())


def is_kept_apart(module: str, importer: str) -> bool:
    """Return whether a rule keeps the module separate from the only module that imports it."""
    parts = set(module.split(".")) | set(importer.split("."))
    text = ast.get_docstring(ast.parse(modules()[module].read_text())) or ""
    return (
        bool(parts & BOUNDARIES)
        or module.rpartition(".")[2] in FOUND_BY_NAME
        or modules()[module].name == "__init__.py"
        or "Pure" in text
        or "module is pure" in text
        or lines(module) + lines(importer) > LONGEST
    )


def shards() -> dict[str, str]:
    """Return each shard, and the module to which it belongs."""
    small = [name for name in modules() if lines(name) < SHARD]
    single = {name: next(iter(importers()[name])) for name in small if len(importers()[name]) == 1}
    return {name: by for name, by in single.items() if not is_kept_apart(name, by)}


def test_a_shard_belongs_to_the_file_that_imports_it() -> None:
    found = {name: by for name, by in shards().items() if name not in APART}
    assert not found, f"move each into its importer, or say in shards_apart.toml why not: {found}"


def test_what_is_kept_apart_is_a_shard() -> None:
    assert not set(APART) - set(shards()), "these are no shards any more: take them off the list"
