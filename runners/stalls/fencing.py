"""The blame, recorded at once: one statement, in a short-lived copy of the watchdog.

Starting a process with Django takes seconds on a busy machine, longer than a lease may have left;
so the run is fenced first, and what else there is to do follows (`afterwards`). The statement is
the one that releases runs everywhere: it compares the token, so what was taken over counts nothing.
"""

import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.process.activity_slots import EXECUTES, Note

RELEASE = Path(__file__).parents[1] / "sql" / "release.sql"
# The run is not sent before somebody has looked at its crashes, or failed to for so long.
DELAY_SECONDS = 15.0
LOOK_SECONDS = 0.02
FENCED, TAKEN_OVER = 0, 3


@dataclass(frozen=True, slots=True)
class Fencer:
    """Records blame in the database that these arguments of `psycopg.connect` reach."""

    connection: Mapping[str, Any]

    def fence(self, note: Note, cause: str, seconds: float) -> bool:
        """Whether the run was blamed within so many seconds; False when it was taken over."""
        child = os.fork()
        if child == 0:
            self._end(note, cause)
        until = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status) == FENCED
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                say(f"run {note.run_id} was not blamed within {seconds:g} s")
                return False
            time.sleep(LOOK_SECONDS)

    def _end(self, note: Note, cause: str) -> None:
        code = 1
        try:
            code = FENCED if self._release(note, cause) else TAKEN_OVER
        except Exception as error:
            say(f"run {note.run_id} could not be blamed ({type(error).__name__}: {error})")
        finally:
            os._exit(code)

    def _release(self, note: Note, cause: str) -> bool:
        import psycopg  # 20 MB that the watchdog itself does not need

        values = {
            "run": note.run_id,
            "token": note.token,
            "lost": 1,
            # A step that follows in memory has no run of its own yet: this one is not blamed for
            # it. As a suspect it is carried alone, and the next step gets a run.
            "crashed": int(note.phase == EXECUTES),
            "cause": cause,
            "suspect": True,
            "delay": DELAY_SECONDS,
            "patience": 0.0,
        }
        # Nothing prepared: there may be a pooler in between.
        with psycopg.connect(autocommit=True, prepare_threshold=None, **self.connection) as own:
            return bool(own.execute(RELEASE.read_bytes(), values).fetchall())


def say(message: str) -> None:
    """Write to the worker's log."""
    sys.stderr.write(f"watchdog: {message}\n")
    sys.stderr.flush()
