"""Child processes that end with their supervisor, each in a separate session."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

PR_SET_PDEATHSIG = 1
ENDINGS = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP})


def die_with_parent(number: signal.Signals) -> Callable[[], None]:
    """Return a `preexec_fn` that makes the kernel send `number` when the parent thread ends.

    Start such children from a thread that lives as long as the children should. On systems other
    than Linux, the function does nothing, and the next start finds and stops leftovers.
    """
    if sys.platform != "linux":
        return lambda: None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask_kernel() -> None:
        prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # the parent died before the call of prctl
            os.kill(os.getpid(), number)

    return ask_kernel


def start_child(
    command: Sequence[str | Path], *, death_signal: signal.Signals, **more: Any
) -> subprocess.Popen[Any]:
    """Start a child to which the kernel sends `death_signal` when the calling thread ends.

    `more` are further arguments for Popen.

    Termination signals are blocked during the fork. Otherwise, Python could run their handlers in a
    hook after the fork, where it ignores exceptions, and this process would not terminate.
    """
    ends_with_us = die_with_parent(death_signal)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDINGS)

    def prepare() -> None:
        ends_with_us()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    try:
        # Only a hook after the fork can request the death signal. It only makes two system calls.
        return subprocess.Popen(list(command), preexec_fn=prepare, **more)  # noqa: PLW1509, S603
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def spawn(
    command: Sequence[str],
    *,
    folder: Path,
    log: IO[bytes],
    death_signal: signal.Signals,
    account_arguments: dict[str, Any],
) -> subprocess.Popen[bytes]:
    """Start a server in `folder`, and write its output to `log`. The server receives no Ctrl-C."""
    return start_child(
        command,
        death_signal=death_signal,
        cwd=folder,
        env=plain_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        **account_arguments,
    )


def plain_environment(folder: Path) -> dict[str, str]:
    """Return a minimal environment, without this process's PG* and locale variables."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "LC_ALL": "C",
        "TZ": "UTC",
    }


def stop(child: subprocess.Popen[bytes], steps: Sequence[tuple[signal.Signals, float]]) -> None:
    """Send each signal, then wait at most the given seconds for the end; finally kill the child."""
    for number, seconds in steps:
        if child.poll() is not None:
            return
        child.send_signal(number)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            continue
    if child.poll() is None:
        child.kill()
        child.wait()


def free_port(preferred: int = 0) -> int:
    """Return a free port of 127.0.0.1: `preferred` if it is free, otherwise any. Raises OSError.

    The function opens and closes a connection on the port. For a minute afterwards, Linux gives the
    port only to programs that name it, not to programs that request any free port.
    """
    for wanted in {preferred: None, 0: None}:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
                probe.listen(1)
            except OSError:
                continue
            address = probe.getsockname()
            with socket.create_connection(address):
                # Close this side first, because the minute applies to the side that closes first
                # (TIME_WAIT).
                probe.accept()[0].close()
            return int(address[1])
    raise OSError("no free port at 127.0.0.1")
