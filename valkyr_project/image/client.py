"""Request processes from the launcher; a `ForkedProcess` behaves like a `subprocess.Popen`."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from valkyr_project.embedded.child import start_child
from valkyr_project.image.launcher import NUMBER


class ForkedProcess:
    """A forked process; its output is in `stdout`, and `poll` and `wait` return its exit code.

    The process ends with its launcher, and then counts as killed.
    """

    def __init__(self, output: int, said: int) -> None:
        """Wait until the process is forked; `pid` is 0 if the launcher has ended."""
        self.stdout = os.fdopen(output, "rb")
        self.returncode: int | None = None
        self._said = os.fdopen(said, "rb", buffering=0)
        self._lock = threading.Lock()
        self.pid = 0
        if packed := self._said.read(NUMBER.size):
            (self.pid,) = NUMBER.unpack(packed)

    def poll(self) -> int | None:
        """Return the exit code, or None while the process is running.

        If a signal ended the process, the code is the negative number of the signal.
        """
        with self._lock:
            if self.returncode is None and select.select([self._said], [], [], 0)[0]:
                packed = self._said.read(NUMBER.size)
                (self.returncode,) = NUMBER.unpack(packed) if packed else (-signal.SIGKILL,)
            return self.returncode

    def wait(self) -> int:
        """Wait until the process ends, and return its exit code. Call this method only once."""
        while (code := self.poll()) is None:
            select.select([self._said], [], [])
        self._said.close()
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal to the process if it is still running."""
        # The process may have ended already, because the launcher reports an end slightly later.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)


class ProcessImage:
    """A launcher and its processes. They end when the thread that called `launch` ends."""

    def __init__(self, folder: Path, log: Path) -> None:
        """Prepare without starting; the launcher works in `folder` and writes its log to `log`."""
        self._launcher: subprocess.Popen[bytes] | None = None
        self._launched_at = 0.0
        self._folder = folder
        self._log = log
        self._lock = threading.Lock()

    def launch(self, environment: Mapping[str, str]) -> None:
        """Start the launcher; calls to `start` wait until the launcher has loaded everything."""
        self._launched_at = time.monotonic()
        self._asking, asked = socket.socketpair()
        descriptor = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with asked, os.fdopen(descriptor, "wb") as log:
            self._launcher = start_child(
                [sys.executable, "-m", "valkyr_project.image.launcher", str(asked.fileno())],
                cwd=self._folder,
                env={**environment, "VALKYR_PROCESS": "image"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[asked.fileno()],
                start_new_session=True,
                death_signal=signal.SIGKILL,
            )

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> ForkedProcess:
        """Start `python -m …` with `environment` added to the launcher's; return the process."""
        python, option, *module_and_words = command
        if [python, option] != [sys.executable, "-m"]:
            raise ValueError(f"{command[:2]} is not what the image runs: {sys.executable} -m")
        request = {"command": module_and_words, "environment": dict(environment)}
        output, writes = os.pipe()
        said, says = os.pipe()
        # One request at a time, so that the launcher does not read two requests as one.
        with self._lock:
            with suppress(OSError):
                socket.send_fds(self._asking, [json.dumps(request).encode()], [writes, says])
            for file in (writes, says):
                os.close(file)
            return ForkedProcess(output, said)

    @property
    def pid(self) -> int:
        """Return the launcher's process ID, or 0 before it starts."""
        return self._launcher.pid if self._launcher else 0

    def alive(self) -> bool:
        """Return whether the launcher is running."""
        return self._launcher is not None and self._launcher.poll() is None

    def uptime(self) -> float:
        """Return the seconds since the launcher was last started."""
        return time.monotonic() - self._launched_at

    def last_lines(self) -> str:
        """Return the end of the launcher's log."""
        return self._log.read_text(errors="replace")[-3000:].strip() or "(no output)"

    def close(self) -> None:
        """End the launcher and its remaining processes."""
        if self._launcher is None:
            return
        self._asking.close()
        self._launcher.kill()
        self._launcher.wait()
