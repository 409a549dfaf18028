"""Write the settings' part of docs/reference/configuration.md."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from executions.checks import classes
from executions.configuration import EngineSettings
from executions.configuration.engine import GROUPS
from executions.configuration.reference import within

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "configuration.md"


class Command(BaseCommand):
    """Describe every setting of the engine and of the installed plugins."""

    help = "Write every setting, with default and meaning, into docs/reference/configuration.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the options `--into` (the file) and `--check` (only compare)."""
        parser.add_argument("--into", type=Path, default=PAGE, metavar="FILE")
        parser.add_argument(
            "--check", action="store_true", help="write nothing; fail if the page is not current"
        )

    def handle(self, *args: Any, into: Path, check: bool, **options: Any) -> None:
        """Write the page; with `check`, only raise CommandError if the page is not current."""
        page = into.read_text()
        wanted = within(page, [*GROUPS, *(k for k in classes() if k is not EngineSettings)])
        if check and page != wanted:
            raise CommandError(f"{into} is not current: run manage.py describe_settings.")
        into.write_text(wanted)
