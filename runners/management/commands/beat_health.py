"""`manage.py beat_health`: whether the beat of this machine is healthy."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from runners.process import signs_of_life


class Command(BaseCommand):
    """For people at a terminal.

    Containers run `runners/process/signs_of_life.py beat`, which starts faster.
    """

    help = "Ends with 0 when the beat here turns (elected or not), with 1 and a reason if not."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the state of the beat; raises CommandError if it is unhealthy."""
        well, sentence = signs_of_life.check("beat")
        if not well:
            raise CommandError(sentence)
        self.stdout.write(sentence)
