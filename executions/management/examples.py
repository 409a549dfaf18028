"""Management commands whose help ends with examples."""

from argparse import RawDescriptionHelpFormatter
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser


class CommandWithExamples(BaseCommand):
    """A command whose `--help` prints `examples` unchanged below the options."""

    examples: ClassVar[str] = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return Django's parser, with the examples below the options."""
        parser = super().create_parser(prog_name, subcommand, epilog=self.examples, **kwargs)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser
