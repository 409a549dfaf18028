"""The running stack, which the demo finds by its data folder or starts as a child."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from valkyr_project.demo.client import DemoError
from valkyr_project.embedded.child import start_child
from valkyr_project.up import environment, home, options

PATIENCE_SECONDS = 120.0  # the first start creates a database


@dataclass(frozen=True)
class Stack:
    """The address and credentials of a stack; `child` is its process if the demo started it."""

    home: Path
    url: str
    flower_url: str
    username: str
    password: str
    child: "subprocess.Popen[bytes] | None" = None

    @property
    def started_here(self) -> bool:
        """Return whether the demo started the stack, and therefore stops it."""
        return self.child is not None

    @property
    def mail_folder(self) -> Path:
        """Return the folder to which the workers write emails, unless VALKYR_EMAIL_URL is set."""
        return self.home / "mail"

    def stay(self) -> None:
        """Wait until a stack that the demo started ends, or until Ctrl-C."""
        if self.child is not None:
            with contextlib.suppress(KeyboardInterrupt):
                self.child.wait()

    def stop(self) -> None:
        """Stop the stack if the demo started it; another Ctrl-C stops it at once."""
        if self.child is not None:
            _stop(self.child)


def find_or_start(partner_host: str) -> Stack:
    """Return the stack of VALKYR_HOME once it is ready; start it if it is not running.

    By default, the steps of a new stack may call `partner_host`. Raises DemoError or UpError.
    """
    asked = options.parse([])
    if home.running(asked.home) is not None:
        print(f"Valkyr already runs in {asked.home}; the demo uses it.", flush=True)
        return _await_ready(asked.home, None)
    print("Valkyr does not run yet; starting it as `make up` does.", flush=True)
    child = start_child(
        [sys.executable, "-m", "valkyr_project.up"],
        env={"VALKYR_HTTP_ALLOWED_NETWORKS": f"{partner_host}/32", **os.environ},
        cwd=options.PROJECT,
        start_new_session=True,  # only the demo gets the terminal's Ctrl-C; it passes it on once
        death_signal=signal.SIGTERM,
    )
    try:
        return _await_ready(asked.home, child)
    except BaseException:
        _stop(child)
        raise


def _await_ready(folder: Path, child: "subprocess.Popen[bytes] | None") -> Stack:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        facts = home.running(folder) or {}
        if facts.get("ready"):
            account = environment.load(folder)
            return Stack(
                folder,
                str(facts["url"]),
                str(facts["flower_url"]),
                account.username,
                account.password,
                child,
            )
        if child is not None and child.poll() is not None:
            raise DemoError("Valkyr did not start; the cause is printed above.")
        if child is None and home.running(folder) is None:
            raise DemoError(f"The stack in {folder} stopped. Run `make demo` again.")
        time.sleep(0.2)
    raise DemoError(
        f"The stack in {folder} was not ready within {PATIENCE_SECONDS:.0f} s; its logs are in "
        f"{folder / 'logs'}."
    )


def _stop(child: "subprocess.Popen[bytes]") -> None:
    while child.poll() is None:
        child.send_signal(signal.SIGTERM)
        with contextlib.suppress(KeyboardInterrupt):
            child.wait()
