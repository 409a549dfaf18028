"""Write docs/reference/python-api.md and the types of built-in modules."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from valkyr_plugins.python_workflows import module_types
from valkyr_plugins.python_workflows.reference import page

PLUGIN = Path(__file__).resolve().parents[2]
PAGE = PLUGIN.parents[1] / "docs" / "reference" / "python-api.md"
STUB = PLUGIN / "built_in.pyi"


class Command(BaseCommand):
    """Writes the reference page for users, and the types for type checkers."""

    help = (
        "Write every name for workflows in Python into docs/reference/python-api.md, and the types "
        "of built-in modules into built_in.pyi."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the option `--check`, which only compares."""
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if a file is not current"
        )

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Write both files or, with `--check`, raise CommandError if a file is not current."""
        for path, text in ((PAGE, page()), (STUB, module_types.stub())):
            if not check:
                path.write_text(text)
            elif not path.exists() or path.read_text() != text:
                raise CommandError(f"{path} is not current: run manage.py describe_python_api.")
