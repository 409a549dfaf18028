"""Processes of `manage.py consume`, forked from one that has loaded everything.

Each is a process of its own, with connections of its own, that may be killed; only Python and
Django, two seconds of a processor, are not started anew for each.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Mapping
from functools import cache
from multiprocessing.connection import Connection
from typing import Any, Self

import pytest

from tests.support.fleet import database_url
from tests.support.waiting import wait_until

FORKING = multiprocessing.get_context("forkserver")
LOADED = "tests.support.loaded"


@cache
def load() -> None:
    """Start the process that others are forked from, on the tests' database."""
    from multiprocessing import forkserver

    FORKING.set_forkserver_preload([LOADED])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DATABASE_URL", database_url())
        forkserver.ensure_running()


class Consuming:
    """One `manage.py consume`; `lines` is what it printed.

    `dying`: it kills itself where it hurts most, before it acknowledges a message.
    """

    def __init__(
        self, trigger: Any, *options: str, dying: bool = False, **environment: str
    ) -> None:
        load()
        said, says = FORKING.Pipe(duplex=False)
        self.process = FORKING.Process(
            target=_run, args=(says, [str(trigger), *options], environment, dying), daemon=True
        )
        self.process.start()
        says.close()
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, args=(said,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.wait()

    def _read(self, said: Connection) -> None:
        with said, os.fdopen(os.dup(said.fileno())) as printed:
            self.lines.extend(printed)

    @property
    def text(self) -> str:
        return "".join(self.lines)

    def wait(self, seconds: float = 40) -> int:
        """Its exit code, once it has ended and all it printed was read."""
        self.process.join(seconds)
        code = self.process.exitcode
        assert code is not None, f"did not end within {seconds} s: {self.text}"
        self._reader.join(5)
        return code

    def wait_for(self, text: str) -> None:
        wait_until(lambda: text in self.text, 40, f"{text!r} in {self.text!r}")

    def stop(self) -> str:
        """Ask it to end; what it printed."""
        self.process.terminate()
        assert self.wait() == 0, self.text
        return self.text


def _run(
    says: Connection, arguments: list[str], environment: Mapping[str, str], dying: bool
) -> None:
    """What `python manage.py consume` does, printing into `says`."""
    os.environ.update(environment)
    for stream in (1, 2):
        os.dup2(says.fileno(), stream)
    says.close()
    if dying:
        _die_before_acknowledging()
    sys.argv = ["manage.py", "consume", *arguments]
    from manage import main

    main()


def _die_before_acknowledging() -> None:
    from executions.triggers.queues.redis_source import RedisSource

    def acknowledge(self: RedisSource) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    RedisSource.acknowledge = acknowledge  # type: ignore[method-assign]
