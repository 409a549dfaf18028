"""The output of the processes: all lines in `<home>/logs/<name>.log`, warnings on the terminal too.

A repeated warning is shown at most once a minute; the log file has every line.
"""

import logging
import logging.handlers
import os
import re
import sys
import time
from collections import deque
from pathlib import Path
from typing import TextIO

from honcho.printer import Message, Printer

LOUD = re.compile(r"\b(WARNING|ERROR|CRITICAL|FATAL)\b")
VARYING = re.compile(r"[0-9a-f-]*\d[0-9a-f-]*")
REPEAT_SECONDS = 60.0
LOG_BYTES = 10_000_000


class Output:
    """Stores the lines of each process, and shows the important ones."""

    def __init__(self, logs: Path, names: list[str], terminal: TextIO = sys.stdout) -> None:
        """Write files below `logs`; `names` determine the width of the terminal's first column."""
        self._logs = logs
        self._printer = Printer(terminal, width=max(map(len, names)))
        self._files: dict[str, logging.handlers.RotatingFileHandler] = {}
        self._tails: dict[str, deque[str]] = {}
        self._shown: dict[tuple[str, str], float] = {}

    def write(self, message: Message) -> None:
        """Write a chunk of a process's output, as honcho sends it."""
        text = message.data.decode(errors="replace").rstrip("\n")
        self._tails.setdefault(message.name, deque(maxlen=30)).append(text)
        record = logging.LogRecord(message.name, logging.INFO, "", 0, text, None, None)
        self._file(message.name).emit(record)
        if LOUD.search(text) and self._is_news(message.name, text):
            self._show(message)

    def _is_news(self, name: str, text: str) -> bool:
        """Return whether no similar line was shown in the last minute; times and IDs may differ."""
        now = time.monotonic()
        key = (name, VARYING.sub("#", text))
        if now - self._shown.get(key, -REPEAT_SECONDS) < REPEAT_SECONDS:
            return False
        self._shown = {k: at for k, at in self._shown.items() if now - at < REPEAT_SECONDS}
        self._shown[key] = now
        return True

    def last_lines(self, name: str, count: int = 15) -> str:
        """Return the last `count` lines of a process's output."""
        return "\n".join(list(self._tails.get(name, ()))[-count:]) or "(it said nothing)"

    def close(self) -> None:
        """Close the log files."""
        for file in self._files.values():
            file.close()

    def _show(self, message: Message) -> None:
        try:
            self._printer.write(message)
        except OSError:  # the terminal is closed; the log file has the line
            return

    def _file(self, name: str) -> logging.handlers.RotatingFileHandler:
        if name not in self._files:
            path = self._logs / f"{name}.log"
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
            self._files[name] = logging.handlers.RotatingFileHandler(
                path, maxBytes=LOG_BYTES, backupCount=2
            )
        return self._files[name]


def say(text: str = "") -> None:
    """Print a line of the supervisor; do nothing if the terminal is closed."""
    try:
        print(text, flush=True)
    except OSError:
        return
