"""Start a QUEUE trigger's workflow for every message of its queue."""

import os
import signal
import time
from argparse import ArgumentTypeError
from collections import Counter
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.errors import ValkyrError
from executions.triggers.queues.consumer import Consumer
from executions.triggers.queues.message import UnusableSource
from executions.triggers.queues.sources import broker_url, find, open_source, shown


class Command(BaseCommand):
    """Print a line when reading starts, and a summary of the results when it ends."""

    requires_system_checks = []  # checks of pages and forms would double its start time
    help = (
        "Read the queue of a QUEUE trigger and start its workflow for every message. A message is "
        "acknowledged after its execution, or its rejection, is committed. Several consumers can "
        "read one queue. SIGTERM or Ctrl-C ends a consumer after the current message."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments for the trigger, its broker and messages, and the stop conditions."""
        parser.add_argument("trigger", help="a QUEUE trigger's id, or workflow-slug[:queue]")
        parser.add_argument("--limit", type=_positive, help="end after this number of messages")
        parser.add_argument("--once", action="store_true", help="end when the queue is empty")
        parser.add_argument("--broker", help="another broker's address, or env:NAME")
        parser.add_argument(
            "--raw",
            action="store_true",
            help="the Redis list contains plain JSON pushed with RPUSH, not kombu messages",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Consume messages until a signal, `--limit` or `--once` ends the command.

        Raises CommandError.
        """
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        began = time.monotonic()
        try:
            trigger = find(options["trigger"])
            url = broker_url(trigger, options["broker"])
            source = open_source(trigger, url, raw=options["raw"])
            consumer = Consumer(
                trigger.pk, source, stop=stop, limit=options["limit"], once=options["once"]
            )
            self._say(
                f"consuming {trigger.settings['queue']} at {shown(url)} for workflow "
                f"{trigger.workflow.slug} (trigger {trigger.pk}, process {os.getpid()})"
            )
            try:
                consumer.run()
            finally:
                source.close()
        except (ValkyrError, UnusableSource) as error:
            raise CommandError(str(error)) from error
        self._say(_summary(consumer.counts, time.monotonic() - began))

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _summary(counts: Counter[str], seconds: float) -> str:
    words = ", ".join(f"{counts[word]} {word}" for word in ("started", "known", "refused"))
    return f"{words} in {seconds:.1f} s"


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)
