"""One process of the stack: honcho's, started without a shell, ended with its supervisor."""

import functools
import queue
import signal
import threading
import time
from collections.abc import Mapping

import honcho.process
from honcho.printer import Message

from valkyr_project.embedded.child import die_with_parent
from valkyr_project.up.options import PROJECT
from valkyr_project.up.processes import ProcessSpec


class ChildProcess(honcho.process.Process):  # type: ignore[misc] # honcho has no types
    """Runs `spec` in a thread that relays its output and its end to `events`."""

    def __init__(self, spec: ProcessSpec, environment: Mapping[str, str]) -> None:
        """Start nothing yet."""
        super().__init__(
            spec.command, name=spec.name, env={**environment, **spec.environment}, cwd=str(PROJECT)
        )
        self.spec = spec
        self.started_at = time.monotonic()
        # The engine survives kill -9 of its processes by design; after a supervisor's death the
        # servers are stopping too, so an orderly end could only wait for them in vain.
        self._child_ctor = functools.partial(
            honcho.process.Popen, shell=False, preexec_fn=die_with_parent(signal.SIGKILL)
        )

    def launch(self, events: "queue.Queue[Message]") -> None:
        """Start the process; the thread lives as long as it, and so does its death signal."""
        self.started_at = time.monotonic()
        threading.Thread(target=self.run, args=(events,), name=self.name, daemon=True).start()

    @property
    def pid(self) -> int:
        """The process id, or 0 before it has one."""
        return self._child.pid if self._child else 0

    def alive(self) -> bool:
        """Whether the process runs."""
        return self._child is not None and self._child.poll() is None

    def send(self, number: signal.Signals) -> None:
        """Send the process itself (not its group) a signal, if it still runs."""
        if self.alive():
            self._child.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Wait for the end; says whether it came."""
        deadline = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
