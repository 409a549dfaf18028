"""The process in which a step's code runs.

It reads the request as JSON from standard input, and writes the report to standard output. Text
that the code prints goes to standard error. `main` is the supervisor of the built-in sandbox. It
stays outside, where the code cannot reach it; its child confines itself. The supervisor ends the
child on SIGTERM, when the worker dies, or 10 s after the time limit. In bubblewrap, which
supervises too, `inside` runs the code without a supervisor process.
"""

import json
import math
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

from valkyr_plugins.connectors.code.confined import (
    javascript,
    kernel,
    landlock,
    namespaces,
    program,
    seccomp,
)

# Limits on the process's use of resources (setrlimit(2)).


MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_OPEN_FILES = 16
SPARE_PROCESSOR_SECONDS = 2


def set_limits(seconds: float, memory_mb: int) -> None:
    """Limit this process: it cannot start processes or threads, or exceed `memory_mb` MiB.

    The limit on CPU time is a second defence: the waiting process measures the elapsed time.
    """
    processor = math.ceil(seconds) + SPARE_PROCESSOR_SECONDS
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_AS, memory_mb * 1024 * 1024),
        (resource.RLIMIT_NPROC, 1),
    ):
        _lower(kind, most)


def _lower(kind: int, most: int) -> None:
    """Set a limit to `most`, unless it is lower already."""
    hard = resource.getrlimit(kind)[1]
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (value, value))


SPARE_SECONDS = 10
REFUSED = (
    "this machine cannot confine it: {reason}. It needs Linux 5.13 or newer with Landlock and "
    "seccomp filters on x86-64 or 64-bit ARM, and namespaces of users, mounts and networks, which "
    "some containers' seccomp profiles deny"
)


def main() -> NoReturn:
    """Supervise one run; exit with the child's exit code, or 128 plus the number of its signal."""
    request = json.loads(sys.stdin.buffer.read())
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        _require_landlock()
        namespaces.leave_for_children()
    except OSError as error:
        _refuse(error)
    child = _started(request)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def inside() -> NoReturn:
    """Run the code in this process, inside bubblewrap, without a supervisor process."""
    # Bubblewrap stores its folder in this variable, which the code must not see.
    os.environ.pop("PWD", None)
    _run(json.loads(sys.stdin.buffer.read()), _confine_inside)


def _started(request: dict[str, Any]) -> int:
    ended: list[int] = []

    def end(*_: object) -> None:
        for pid in ended:
            os.kill(pid, signal.SIGKILL)

    # Block the signals until the child's ID is known.
    both = {signal.SIGTERM, signal.SIGALRM}
    signal.pthread_sigmask(signal.SIG_BLOCK, both)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGALRM, end)
    child = os.fork()
    if child == 0:
        for number in both:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
        _run(request, _confine)
    ended.append(child)
    signal.setitimer(signal.ITIMER_REAL, request["seconds"] + SPARE_SECONDS)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
    return child


def _run(request: dict[str, Any], confine: Callable[[], None]) -> NoReturn:
    """Confine this process, run the code, and write its report.

    This process is the first in a PID namespace: when it ends, its descendants end too.
    """
    out = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr = os.fdopen(2, "w", buffering=1, errors="replace", closefd=False)
    try:
        report = _reporter(request)
        confine()
        _lock(request)
    except OSError as error:
        os.dup2(out, 1)
        _refuse(error)
    sys.path[:] = [path for path in sys.path if path != request["home"]]
    said = report()
    with suppress(Exception):
        sys.stdout.flush()
    _write(out, said)
    os._exit(0)


def _reporter(request: dict[str, Any]) -> Callable[[], bytes]:
    """Return the function that runs the code; load QuickJS while its file is visible."""
    code, inputs = request["code"], request["inputs"]
    if "engine" not in request:
        return partial(program.report, code, inputs)
    engine = javascript.loaded(request["engine"])
    return partial(javascript.report, engine, code, inputs, request["engineBytes"])


def _confine() -> None:
    """Enter new namespaces and give up root; this process ends when the supervisor ends."""
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()  # otherwise a signal to the process group would also reach the supervisor
    namespaces.leave()
    namespaces.narrow()
    namespaces.become_nobody()


def _confine_inside() -> None:
    """Apply the limits that bubblewrap leaves open."""
    _require_landlock()
    namespaces.bound_tmp()
    namespaces.become_nobody(saved=namespaces.ROOT)


def _lock(request: dict[str, Any]) -> None:
    """Drop all capabilities, then apply Landlock, the limits and the system call filter."""
    namespaces.count_alone()
    # The change of the user has cleared this setting, so set it again.
    kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict("/", writable=namespaces.TMP)
    set_limits(request["seconds"], request["memoryMb"])
    seccomp.restrict()


def _require_landlock() -> None:
    if not landlock.version():
        raise OSError(0, "its kernel has no Landlock, or it is turned off")


def _refuse(error: OSError) -> NoReturn:
    reason = error.strerror or str(error)
    _write(1, json.dumps({"refused": REFUSED.format(reason=reason)}).encode())
    os._exit(0)


def _write(handle: int, said: bytes) -> None:
    while said:
        said = said[os.write(handle, said) :]
