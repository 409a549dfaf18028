"""The watchdog's side of the blame: a short-lived process with Django records it.

The order decides what a crash in between can do. First the run is blamed, which fences it by its
token and has it sent again; then its process is killed; then what else it held is given back. A
crash after the blame leaves a fenced run and a stalled process, which the next watchdog kills:
the token has grown, so nothing is counted twice. A blame that does not come in time counts
nothing: the process ends all the same, and the sweeper takes all its runs for suspects.
"""

import json
import os
import select
import sys
from typing import IO

from runners.stalls.places import Head, Note

PROGRAM = "runners.stalls.blaming"
DONE = b"recorded\n"
ENDED = b"ended\n"


class Blaming:
    """A process that records one blame."""

    def __init__(self, told: IO[bytes], heard: IO[bytes]) -> None:
        self._told, self._heard = told, heard

    @classmethod
    def begin(cls, head: Head, note: Note, seconds: float) -> "Blaming | None":
        """Start it; None where it cannot be started."""
        import subprocess  # a megabyte that is seldom needed

        facts = {
            "pid": head.pid,
            "start": str(head.start),
            "run": str(note.run_id),
            "token": note.token,
            "phase": note.phase,
            "seconds": seconds,
        }
        try:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", PROGRAM, json.dumps(facts)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | {"VALKYR_POOL": "prefork"},
            )
        except OSError as error:
            say(f"nobody can be blamed ({error})")
            return None
        assert process.stdin is not None
        assert process.stdout is not None
        return cls(process.stdin, process.stdout)

    def wait(self, seconds: float) -> bool:
        """Whether the blame was recorded within so many seconds."""
        ready, _, _ = select.select([self._heard], [], [], seconds)
        return bool(ready) and self._heard.readline() == DONE

    def ended(self) -> None:
        """Say that the stalled process is dead, so that the rest of its runs can be given back."""
        try:
            self._told.write(ENDED)
            self._told.close()
        except OSError:
            pass


def say(message: str) -> None:
    """Write to the worker's log."""
    sys.stderr.write(f"watchdog: {message}\n")
    sys.stderr.flush()
