"""What the engine logs as an error while a seed runs."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from tests.simulation.actors import me


class Complaints(logging.Handler):
    """What the engine logs as an error: a duty that failed, a state that should not be."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is of a process that lives, and of no dead letter: those are the judge's."""
        actor = me()
        return (actor is None or not actor.dead) and not record.name.startswith("dlq")

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += f": {record.exc_info[1]!r}"
        self.heard.append(f"logged: {text}")


@contextmanager
def listening(complaints: Complaints) -> Iterator[None]:
    """Nothing is printed: there would be much of processes that were killed."""
    logger = logging.getLogger()
    usual, logger.handlers = logger.handlers, [complaints]
    try:
        yield
    finally:
        logger.handlers = usual
