"""All pages by name: an index that says how to read them, and one page a category."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from executions.definition.catalog import ModuleSpec
from runners.management.module_pages.entry import entry
from runners.management.module_pages.kinds import cell

INDEX = "modules.md"
OPENING = """\
# Modules

What a step can do. These pages are written by `python manage.py describe_modules` from the modules
themselves, and a test keeps them so; the JSON Schemas are at `/v1/ModuleType`.

## How to read them

Each module has its section: what it does, a task as you would write it, its inputs (what stands
under `with`) and outputs (what later tasks read as `tasks.<id>.output`), and what goes wrong.

*Effect* is what a repeat after a crash does: `none` (nothing), `idempotent` (nothing, thanks to the
idempotency key), `external` (it may happen twice, with the same key). *Queue* says which workers
run it; a module that runs inline is pure, and is recorded together with the steps around it.
*Retry* is the policy that failures of the types TRANSIENT and TIMEOUT are tried again by; PERMANENT
ones are not. *Circuit* is what failures are counted by: while it is open, steps wait. *Credential*
is the type of the one it may use.

## All of them
"""
HEAD = "| type | what it does | effect |\n|---|---|---|"
YOUR_OWN = Path(__file__).with_name("your_own.md")


def pages(specs: Mapping[str, ModuleSpec]) -> dict[str, str]:
    """The pages' texts by their paths below `docs/`."""
    ordered = sorted(specs.values(), key=lambda spec: (spec.category, spec.type))
    by_category = {
        category: list(members) for category, members in groupby(ordered, lambda s: s.category)
    }
    found = {path_of(name): _category(name, members) for name, members in by_category.items()}
    return {INDEX: _index(by_category), **found}


def path_of(category: str) -> str:
    """The page of a category."""
    return f"modules/{category.replace(' ', '-')}.md"


def _index(by_category: Mapping[str, Sequence[ModuleSpec]]) -> str:
    parts = [OPENING]
    for category, members in by_category.items():
        parts.append(f"### [{category.capitalize()}]({path_of(category)})\n\n{HEAD}")
        parts[-1] += "".join(f"\n{_row(spec, category)}" for spec in members) + "\n"
    return "\n".join([*parts, YOUR_OWN.read_text(encoding="utf-8")])


def _row(spec: ModuleSpec, category: str) -> str:
    anchor = spec.type.replace(".", "")
    return f"| [`{spec.type}`]({path_of(category)}#{anchor}) | {_line(spec)} | {spec.effect} |"


def _line(spec: ModuleSpec) -> str:
    """The first sentence of its description."""
    paragraph = cell(spec.description.split("\n\n")[0])
    return paragraph.split(". ")[0].rstrip(".") + "."


def _category(category: str, members: Sequence[ModuleSpec]) -> str:
    opening = f"# Modules: {category}\n\n[All modules](../{INDEX}), and how to read this page.\n"
    return "\n".join([opening, *(entry(spec) for spec in members)])
