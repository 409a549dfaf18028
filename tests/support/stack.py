"""A whole stack, started as `make up` starts it, for tests that examine it from outside."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psutil

from tests.support.waiting import wait_until, wait_until_gone
from valkyr_project.embedded.child import free_port, start_child

PROJECT = Path(__file__).parents[2]


class Stack:
    """One `python -m valkyr_project.up` with its own data folder and ports."""

    def __init__(
        self,
        home: Path,
        extra: Mapping[str, str] | None = None,
        python: str = sys.executable,
        **popen: Any,
    ) -> None:
        """Start the stack; `extra` adds environment variables, `popen` is passed to subprocess."""
        self.home = home
        self.python = python
        self.popen = popen
        self.port = free_port()
        self.flower_port = free_port()
        self.environment = clean_environment() | {
            "VALKYR_HOME": str(home),
            "PORT": str(self.port),
            "FLOWER_PORT": str(self.flower_port),
            "RUNNER_CONCURRENCY": "2",
            **(extra or {}),
        }
        self.start()

    def start(self) -> None:
        """Start the stack for the first time or again after its end. Does not wait."""
        self.lines: list[str] = []
        self.process = start_child(
            [self.python, "-m", "valkyr_project.up"],
            cwd=PROJECT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # A killed test run leaves no stack running.
            death_signal=signal.SIGTERM,
            **self.popen,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def run(self, module: str, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a program of the project as the user who started the stack would; return its
        result.
        """
        return self._run("-m", module, *words)

    def run_file(self, path: str, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a file of the project, as `run` does."""
        return self._run(path, *words)

    def _run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.python, *words],
            cwd=PROJECT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **self.popen,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The web process's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def flower_url(self) -> str:
        """Flower's address."""
        return f"http://127.0.0.1:{self.flower_port}"

    @property
    def text(self) -> str:
        """The stack's output so far."""
        return "".join(self.lines)

    def facts(self) -> dict[str, Any]:
        """Return the contents of the stack's running.json."""
        found = json.loads((self.home / "running.json").read_text())
        assert isinstance(found, dict)
        return found

    def secrets(self) -> dict[str, str]:
        """Return the contents of the stack's secrets.env."""
        lines = (self.home / "secrets.env").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if not line.startswith("#"))

    def wait_ready(self, seconds: float = 120) -> None:
        """Return when the closing block was printed. Raise AssertionError with the output
        otherwise.
        """
        wait_until(
            lambda: "Ctrl-C stops everything" in self.text or self.process.poll() is not None,
            seconds,
            f"the stack's readiness; so far:\n{self.text}\n",
        )
        assert self.process.poll() is None, self.text

    def family(self) -> list[psutil.Process]:
        """Return the supervisor and all its descendants."""
        top = psutil.Process(self.process.pid)
        return [top, *top.children(recursive=True)]

    def find(self, words: str) -> psutil.Process | None:
        """Return the descendant process whose command line contains these words; None if there is
        none.
        """
        for child in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if words in " ".join(child.cmdline()):
                    return child
            except psutil.NoSuchProcess:
                continue
        return None

    def kill_everything(self) -> None:
        """Kill the supervisor and all its descendants with SIGKILL at once, as a power failure
        would.
        """
        family = self.family()
        for process in reversed(family):  # the supervisor last: it must not stop anything itself
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()
        wait_until_gone([process.pid for process in family])
        self._close()

    def stop(self, number: signal.Signals = signal.SIGTERM, seconds: float = 240) -> int:
        """Ask the stack to stop and wait for its end; return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill_everything()
            raise AssertionError(f"did not stop within {seconds} s:\n{self.text}") from None
        finally:
            self._close()

    def _close(self) -> None:
        self._reader.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)


def clean_environment() -> dict[str, str]:
    """Return the caller's environment without anything that configures Valkyr."""
    names = ("VALKYR_", "CELERY_", "FLOWER_", "RUNNER_", "DJANGO_")
    exact = {"DATABASE_URL", "REDIS_URL", "PORT", "DATABASE_DIRECT_URL"}
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(names) and name not in exact
    }
