"""Rooms: a package directly under an app has one subject, within a budget of files and lines.

`room_budgets.toml` sets the budgets; a room may exceed its own by a tenth. If you need more, split
the room, or raise the budget and give the reason in the commit. `pytest -s` prints the table.
"""

import ast
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
APPS = ("executions", "runners", "dlq", "valkyr_project", "valkyr_plugins", "valkyr")
BUDGETS = tomllib.loads(Path(__file__).with_name("room_budgets.toml").read_text())
SLACK = 1.1
# Files of a Django app that Django or Celery look for by their names.
DJANGO = {
    "__init__.py", "admin.py", "apps.py", "asgi.py", "celery.py", "checks.py", "models.py",
    "receivers.py", "settings.py", "tasks.py", "urls.py", "views.py",
}  # fmt: skip
AT_THE_TOP = 10


def rooms() -> list[str]:
    """Return every package directly under an app, except those that Django fills."""
    return sorted(
        f"{app}/{folder.name}"
        for app in APPS
        for folder in (PROJECT / app).iterdir()
        if (folder / "__init__.py").is_file() and folder.name != "migrations"
    )


def measured(room: str) -> dict[str, int]:
    """Return the numbers of Python files and of lines in a room."""
    files = [file for file in (PROJECT / room).rglob("*.py") if "node_modules" not in file.parts]
    return {"files": len(files), "lines": sum(len(f.read_text().splitlines()) for f in files)}


@pytest.mark.parametrize("room", rooms())
def test_a_room_stays_within_its_budget(room: str) -> None:
    found, budget = measured(room), BUDGETS[room]
    print(f"{room:32} {found['files']:4} files {found['lines']:7,} lines, of {budget}")
    for what, number in found.items():
        most = int(budget[what] * SLACK)
        assert number <= most, f"{room} has {number:,} {what}, at most {most:,}: split it"


def test_budgets_are_of_rooms_that_exist() -> None:
    assert sorted(BUDGETS) == rooms()


@pytest.mark.parametrize("app", APPS[:3])
def test_an_app_has_few_files_beside_its_rooms(app: str) -> None:
    found = sorted({file.name for file in (PROJECT / app).glob("*.py")} - DJANGO)
    assert len(found) <= AT_THE_TOP, f"{app} has {found} beside its rooms: find a room for some"


@pytest.mark.parametrize("room", rooms())
def test_a_room_says_what_it_is_for(room: str) -> None:
    text = ast.get_docstring(ast.parse((PROJECT / room / "__init__.py").read_text()))
    assert text, f"{room}/__init__.py has no docstring: say what the room is for"
