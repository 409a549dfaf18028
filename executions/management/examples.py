"""Management commands whose help ends with examples."""

from argparse import RawDescriptionHelpFormatter
from typing import Any, ClassVar

from django.core.management.base import BaseCommand, CommandParser


class CommandWithExamples(BaseCommand):
    """A command that prints `examples`, as they are, below its options in `--help`."""

    examples: ClassVar[str] = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Return the parser, with the examples."""
        parser = super().create_parser(prog_name, subcommand, epilog=self.examples, **kwargs)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser
