"""`manage.py worker_health`: check the workers of this machine."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.process import signs_of_life


class Command(BaseCommand):
    """Check the workers; this command is for people at a terminal.

    Containers run `runners/process/signs_of_life.py worker`, which starts faster.
    """

    help = "Exits with 0 if every local worker takes messages, otherwise with 1 and a reason."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the option that selects the workers."""
        parser.add_argument("--queue", default="", help="only workers of this queue")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the workers' state. Raises CommandError if a worker is unhealthy."""
        well, sentence = signs_of_life.check("worker", options["queue"])
        if not well:
            raise CommandError(sentence)
        self.stdout.write(sentence)
