"""Processes of `manage.py consume`, forked from one that has loaded everything.

Each is a process with its own connections, and can be killed. Forking saves loading Python and
Django again, which takes two CPU seconds.
"""

import os
import signal
import sys
import threading
from functools import cache
from typing import Any, Self

from tests.support.fleet import database_url
from tests.support.nursery import Nursery
from tests.support.waiting import wait_until

# The second kills itself at the worst moment, before it acknowledges a message.
PROGRAM, DYING = "manage.py", "tests.support.dying_consumer"


@cache
def load() -> Nursery:
    """Start the process from which others are forked, on the tests' database."""
    environment = os.environ | {"DATABASE_URL": database_url()}
    return Nursery("tests.support.loaded", environment=environment)


class Consuming:
    """One `manage.py consume`; `lines` is what it printed."""

    def __init__(
        self, trigger: Any, *options: str, dying: bool = False, **environment: str
    ) -> None:
        printed, prints = os.pipe()
        program = ("-m", DYING) if dying else (PROGRAM,)
        self.process = load().start(
            [sys.executable, *program, "consume", str(trigger), *options],
            environment=os.environ | {"DATABASE_URL": database_url()} | environment,
            output=prints,
        )
        os.close(prints)
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(printed,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.wait()

    def _read(self, printed: int) -> None:
        with os.fdopen(printed) as text:
            self.lines.extend(text)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def wait(self, seconds: float = 40) -> int:
        """Wait until the process has ended and all of its output was read; return the exit code."""
        code = self.process.wait(seconds)
        self._reader.join(5)
        return code

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.text, 40, f"{text!r} in {self.text!r}")

    def stop(self) -> str:
        """Ask the process to end; return its output."""
        self.process.send_signal(signal.SIGTERM)
        assert self.wait() == 0, self.text
        return self.text
