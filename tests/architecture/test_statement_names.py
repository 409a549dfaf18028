"""Calls name statements that exist, and each statement and part is used."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
APPS = ("dlq", "executions", "runners", "valkyr_plugins")
# Functions of a loader whose first argument is a statement's name.
CALLS = {"asked", "fetch", "fetch_one", "is_kept", "statement"}
STATEMENTS = {
    folder: names
    for app in APPS
    for folder in sorted((PROJECT / app).rglob("sql"))
    if (names := {file.stem for file in folder.glob("*.sql")})
}


@cache
def _modules() -> dict[Path, ast.Module]:
    """Return the parsed modules of the apps and the tests."""
    files = (file for root in (*APPS, "tests") for file in (PROJECT / root).rglob("*.py"))
    return {file: ast.parse(file.read_text()) for file in files}


def _loaders(module: ast.Module) -> Iterator[tuple[str, Path]]:
    """Yield the name of each imported loader, and its folder."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom):
            package = "executions" if node.module == "executions.database" else node.module or ""
            folder = PROJECT.joinpath(*package.split("."), "sql")
            for name in node.names:
                if name.name == "statements" and folder in STATEMENTS:
                    yield name.asname or name.name, folder


def _calls(file: Path, module: ast.Module) -> Iterator[tuple[str, Path, str]]:
    """Yield the place of each call with a constant name, the statement's folder, and the name."""
    loaders = dict(_loaders(module))
    for node in ast.walk(module):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=loader), attr=called),
                args=[ast.Constant(value=str(name)), *_],
            ) if loader in loaders and called in CALLS:
                yield f"{file.relative_to(PROJECT)}:{node.lineno}", loaders[loader], name


def test_a_call_names_a_statement_that_exists() -> None:
    found = [call for file, module in _modules().items() for call in _calls(file, module)]
    assert len(found) > 150
    assert [call for call in found if call[2] not in STATEMENTS[call[1]]] == []


@pytest.mark.parametrize("folder", STATEMENTS, ids=lambda folder: folder.parent.name)
def test_a_statement_is_used(folder: Path) -> None:
    texts = {
        node.value
        for file, module in _modules().items()
        if "tests" not in file.relative_to(PROJECT).parts
        if folder.parent in file.parents or folder in dict(_loaders(module)).values()
        for node in ast.walk(module)
        if isinstance(node, ast.Constant)
    }
    assert sorted(STATEMENTS[folder] - texts) == []


@pytest.mark.parametrize("folder", STATEMENTS, ids=lambda folder: folder.parent.name)
def test_a_part_exists_and_is_used(folder: Path) -> None:
    texts = [file.read_text() for file in folder.rglob("*.sql")]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    named = {line[4:] for line in lines if line.startswith("--+ ")}
    assert named == {file.stem for file in (folder / "parts").glob("*.sql")}
