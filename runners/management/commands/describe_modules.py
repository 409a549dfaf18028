"""Write the pages of the engine's and the plugins' modules, docs/reference/modules*."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from executions.definition.catalog import ModuleSpec
from runners.management.module_pages import pages
from runners.modules import registry
from runners.modules.declared import declared

DOCS = Path(__file__).resolve().parents[3] / "docs" / "reference"


class Command(BaseCommand):
    """Write the pages of the engine's and the plugins' modules, or of all modules."""

    help = "Write Markdown pages that describe the modules: an index, and one page per category."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add `--into` for the folder, `--all` for all modules, and `--check`."""
        parser.add_argument("--into", type=Path, default=DOCS, metavar="FOLDER")
        parser.add_argument(
            "--all",
            action="store_true",
            help="also describe modules of other packages and your own",
        )
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if a page is not current"
        )

    def handle(self, *args: Any, **options: Any) -> str:
        """Write the pages, and delete the pages of removed categories.

        With `--check`, write nothing, and raise CommandError if a page is not current.
        """
        written = pages(_specs(everything=options["all"]))
        behind = _behind(written, options["into"])
        if not options["check"]:
            _write(written, options["into"])
        elif behind:
            raise CommandError(f"{', '.join(behind)} are not current; run describe_modules")
        return f"{len(behind)} pages written" if behind else "every page is current"


def _specs(*, everything: bool) -> dict[str, ModuleSpec]:
    return {name: s for name, s in registry.specs().items() if everything or name in declared()}


def _behind(written: dict[str, str], into: Path) -> list[str]:
    """Return the names of pages that are outdated or missing, or whose category was removed."""
    return [
        *(n for n, text in written.items() if not (into / n).exists() or _old(into / n, text)),
        *(f"modules/{path.name}" for path in _surplus(written, into)),
    ]


def _old(path: Path, text: str) -> bool:
    return path.read_text(encoding="utf-8") != text


def _surplus(written: dict[str, str], into: Path) -> list[Path]:
    found = sorted((into / "modules").glob("*.md"))
    return [path for path in found if f"modules/{path.name}" not in written]


def _write(written: dict[str, str], into: Path) -> None:
    (into / "modules").mkdir(parents=True, exist_ok=True)
    for path in _surplus(written, into):
        path.unlink()
    for name, text in written.items():
        (into / name).write_text(text, encoding="utf-8")
