"""docs/modules.md says what the modules say of themselves."""

from pathlib import Path

from runners.management.commands.describe_modules import page
from runners.modules import registry
from runners.modules.builtin import BUILTIN

PAGE = Path(__file__).parents[2] / "docs" / "modules.md"


def test_the_page_is_what_the_command_prints() -> None:
    built_in = {name: spec for name, spec in registry.specs().items() if name in BUILTIN}

    assert PAGE.read_text() == page(built_in), (
        "docs/modules.md is behind; write it anew with "
        "`python manage.py describe_modules > docs/modules.md`"
    )


def test_every_built_in_module_has_an_entry() -> None:
    text = PAGE.read_text()

    assert [name for name in BUILTIN if f"### {name}\n" not in text] == []
