"""`manage.py beat_health`: check the beat process of this machine."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.process import signs_of_life


class Command(BaseCommand):
    """Check the beat process; this command is for people at a terminal.

    Containers run `runners/process/signs_of_life.py beat`, which starts faster.
    """

    help = "Exits with 0 if the local beat runs (elected or not), otherwise with 1 and a reason."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the state of the beat process. Raises CommandError if it is unhealthy."""
        well, sentence = signs_of_life.check("beat")
        if not well:
            raise CommandError(sentence)
        self.stdout.write(sentence)
