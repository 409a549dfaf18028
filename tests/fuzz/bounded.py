"""A process for hostile work, watched from outside: its time and its memory.

It is a finding if work blocks the process longer than a web process may be blocked, or increases
its memory. Each error that callers do not expect is a finding too.
"""

import json
import os
import resource
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.stack import PROJECT

# How long no other thread runs, in CPU time.
HELD_SECONDS = 0.1
# The total of one thread, while others run.
CPU_SECONDS = 3.0
TICK = 0.002
MEMORY = 256 * 1024 * 1024
ANSWER_SECONDS = 20
ADDRESS_SPACE = 4 * 1024**3


class Bounded:
    """Runs one child at a time, and starts a new one after each finding."""

    def __init__(self, module: str, first: Any) -> None:
        """Prepare to run `module` as a program that calls `serve`.

        Each child processes `first` before anything else, so that late imports are done.
        """
        self._module, self._first = module, first
        self._child: subprocess.Popen[bytes] | None = None
        self.longest = (0.0, "")  # held, by what

    def attempt(self, given: Any) -> str:
        """Let the child process one item; return what was wrong, or ""."""
        told = self._told(given)
        if isinstance(told, dict) and told["held"] > HELD_SECONDS:
            # On a busy machine, a ready thread waits for its turn. Work that really holds its
            # process does so twice. A new child has no caches of the first time.
            self.close()
            again = self._told(given)
            if isinstance(again, dict):
                again["held"] = min(told["held"], again["held"])
            told = again
        if isinstance(told, str):
            return told
        self.longest = max(self.longest, (told["held"], json.dumps(given)[:2000]))
        if told["error"]:
            return str(told["error"])
        if told["held"] > HELD_SECONDS:
            return f"no other thread ran for {told['held']:.2f} s"
        if told["seconds"] > CPU_SECONDS:
            return f"it took {told['seconds']:.2f} s of a processor"
        if told["grown"] > MEMORY:
            self.close()
            return f"it took {told['grown'] // 2**20} MiB of memory"
        return ""

    def _told(self, given: Any) -> dict[str, Any] | str:
        """Return the child's report about one item, or how it ended without one."""
        return self._answer(self._running(), given)

    def _answer(self, child: "subprocess.Popen[bytes]", given: Any) -> dict[str, Any] | str:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(given).encode() + b"\n")
        child.stdin.flush()
        ready, _, _ = select.select([child.stdout], [], [], ANSWER_SECONDS)
        line = child.stdout.readline() if ready else b""
        if not line:
            self.close()
            return "it ended its process" if ready else f"no answer in {ANSWER_SECONDS} s"
        return dict(json.loads(line))

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", self._module],
                cwd=PROJECT,
                env=os.environ | {"VALKYR_PROCESS": "web"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._answer(self._child, self._first)
        assert self._child is not None, f"{self._module} does not start"
        return self._child


def serve(work: Callable[[Any], None], expected: tuple[type[BaseException], ...]) -> None:
    """Process each line in the child, and report the result."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    ticks = Ticks()
    for line in sys.stdin.buffer:
        # Reading the line is not measured: bodies are bounded by their bytes.
        given = json.loads(line)
        before, began = _peak(), time.thread_time()
        ticks.longest()
        error = ""
        try:
            work(given)
        except expected:
            pass
        except BaseException as wrong:
            error = f"{type(wrong).__name__}: {wrong}"[:500]
        told = {
            "seconds": time.thread_time() - began,
            "held": ticks.longest(),
            "grown": _peak() - before,
            "error": error,
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


class Ticks:
    """A second thread that always wants to run, and records how long it could not.

    CPU time counts: while the whole process waits for a CPU, nothing blocks the thread.
    """

    def __init__(self) -> None:
        self._longest, self._last = 0.0, time.process_time()
        threading.Thread(target=self._tick, daemon=True).start()

    def longest(self) -> float:
        """Return the longest time without a tick since the last call."""
        self._note()
        found, self._longest = self._longest, 0.0
        return found

    def _tick(self) -> None:
        while True:
            time.sleep(TICK)
            self._note()

    def _note(self) -> None:
        now = time.process_time()
        self._longest = max(self._longest, now - self._last)
        self._last = now


def _peak() -> int:
    """Return the largest resident size so far, and reset it to the current one."""
    text = Path("/proc/self/status").read_text()
    peak = 1024 * int(text.partition("VmHWM:")[2].split()[0])
    Path("/proc/self/clear_refs").write_text("5")
    return peak
