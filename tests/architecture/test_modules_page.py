"""The files docs/reference/modules* equal the modules' descriptions."""

import re
from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from runners.management.module_pages import INDEX, pages
from runners.modules import registry
from runners.modules.declared import declared

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def built_in() -> dict[str, str]:
    return pages({name: registry.specs()[name] for name in declared()})


def test_the_pages_are_what_the_command_writes() -> None:
    there = {INDEX, *(f"modules/{path.name}" for path in (DOCS / "modules").glob("*.md"))}
    written = built_in()

    behind = [name for name, text in written.items() if _text(DOCS / name) != text]
    assert (behind, sorted(there - written.keys())) == ([], []), (
        "pages of modules are behind; write them anew with `python manage.py describe_modules`"
    )


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_every_built_in_module_has_an_entry_and_a_row_that_leads_to_it() -> None:
    written = built_in()
    index = written.pop(INDEX)
    everything = "\n".join(written.values())

    assert [name for name in declared() if f"## {name}\n" not in everything] == []
    for target, anchor in re.findall(r"\]\((modules/[\w-]+\.md)#([\w-]+)\)", index):
        titles = [line.removeprefix("## ") for line in written[target].splitlines()]
        assert anchor in [title.replace(".", "") for title in titles]


def test_every_example_is_a_task_that_can_be_read() -> None:
    everything = "\n".join(built_in().values())
    tasks = [
        yaml.safe_load(text) for text in re.findall(r"```yaml\n(- .*?)```", everything, re.DOTALL)
    ]

    assert sorted(task["use"] for (task,) in tasks) == sorted(declared())


def test_tables_have_as_many_cells_in_each_row() -> None:
    for name, text in built_in().items():
        for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            assert len(widths) == 1, f"{name}: {table[:200]}"


def test_the_command_writes_pages_and_removes_those_of_no_category(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "gone.md").write_text("old")

    with pytest.raises(CommandError, match=r"modules/gone\.md"):
        call_command("describe_modules", "--check", "--into", str(tmp_path))
    call_command("describe_modules", "--into", str(tmp_path))
    call_command("describe_modules", "--check", "--into", str(tmp_path))

    assert not (tmp_path / "modules" / "gone.md").exists()
    assert (tmp_path / INDEX).read_text() == built_in()[INDEX]
