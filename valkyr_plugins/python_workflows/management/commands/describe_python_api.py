"""Writes docs/reference/python-api.md."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from valkyr_plugins.python_workflows.reference import page

PAGE = Path(__file__).resolve().parents[4] / "docs" / "reference" / "python-api.md"


class Command(BaseCommand):
    """Describes every name for workflows in Python."""

    help = "Write every name for workflows in Python into docs/reference/python-api.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to; or only to compare."""
        parser.add_argument("--into", type=Path, default=PAGE, metavar="FILE")
        parser.add_argument("--check", action="store_true", help="Fail where the page is not so.")

    def handle(self, *args: Any, into: Path, check: bool, **options: Any) -> None:
        """Write the page."""
        if not check:
            into.write_text(page())
        elif not into.exists() or into.read_text() != page():
            raise CommandError(f"{into} is not current: run manage.py describe_python_api.")
