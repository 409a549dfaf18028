"""Run a step's code in Bubblewrap (bwrap(1)), and test whether it works here.

Bubblewrap creates the namespaces and the file system. Inside, `confined.main.inside` adds the rest
(limits, Landlock, the system call filter) and drops all capabilities before it runs the code.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from valkyr_plugins.connectors.code.confined import namespaces

HOME = "/valkyr"  # the sandbox's folder for `confined`, the only part of the project in the sandbox
CONFINED = Path(namespaces.__file__).parent
TMP_BYTES = 16 * 1024 * 1024
TRIAL = {
    "code": "def main(inputs):\n    return 1\n",
    "inputs": None,
    "seconds": 10,
    "memoryMb": 256,
    "home": HOME,
}
TRIAL_SECONDS = 30
MISSING = "bubblewrap is not installed: there is no program bwrap on the PATH"


def failure() -> str:
    """Return why bubblewrap does not work here, or "". Bubblewrap is tried once per process."""
    program = shutil.which("bwrap")
    return _tried(program) if program else MISSING


@functools.cache
def _tried(program: str) -> str:
    """Return the reason why a trial run fails, or "". A container may forbid parts of the run."""
    try:
        done = subprocess.run(  # noqa: S603 - our own command, no part of it is given
            _command(program),
            input=json.dumps(TRIAL).encode(),
            capture_output=True,
            check=False,
            env={},
            cwd="/",
            timeout=TRIAL_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{program} did not run: {error}"
    try:
        report = json.loads(done.stdout)
    except ValueError:
        said = done.stderr.decode("utf-8", "replace").strip()
        return said[-500:] or f"{program} ended with exit code {done.returncode}"
    return "" if report == {"result": 1} else str(report.get("refused", report))[:500]


def command(engine: str = "") -> tuple[str, ...]:
    """Return the command that reads a request and runs its code in bubblewrap.

    `engine` is the path of a library that the code needs; in the sandbox, it is `seen(engine)`.
    """
    return _command(shutil.which("bwrap") or "bwrap", engine)


def seen(engine: str) -> str:
    """Return the path of a library in the sandbox."""
    return f"{HOME}/{Path(engine).name}"


def python(program: str, home: str, entry: str) -> tuple[str, ...]:
    """Return the command that starts an entry of `confined.main`.

    Python runs isolated from the environment (-I) and from installed packages (-S).
    """
    start = (
        f"import sys; sys.path.insert(0, {home!r}); "
        f"from valkyr_plugins.connectors.code.confined.main import {entry}; {entry}()"
    )
    return (program, "-I", "-S", "-X", "utf8", "-c", start)


@functools.cache
def _command(program: str, engine: str = "") -> tuple[str, ...]:
    interpreter = str(Path(sys.executable).resolve())
    inside = python(interpreter, HOME, "inside")
    return (program, *_namespaces(), *_files(interpreter, engine), "--", *inside)


def _namespaces() -> Iterator[str]:
    yield from ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts")
    yield from ("--unshare-cgroup", "--hostname", namespaces.HOST)
    yield from ("--as-pid-1", "--die-with-parent", "--new-session", "--clearenv")
    # `inside` needs this capability to limit the number of files in /tmp, and drops it afterwards.
    yield from ("--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN")
    if os.geteuid() == 0:
        # A user namespace created by root would map only root. So `inside` first becomes the user
        # nobody, and then creates a user namespace.
        yield from ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    else:
        yield "--unshare-user"


def _files(interpreter: str, engine: str) -> Iterator[str]:
    """Yield the options that mount Python and libraries read-only, and an empty /tmp in memory."""
    folders = namespaces.sources()
    for folder in folders:
        if Path(folder).is_symlink():
            yield from ("--symlink", str(Path(folder).readlink()), folder)
        else:
            yield from _shown(folder, folder)
    for path in (interpreter, *_libraries()):
        if not any(Path(path).is_relative_to(folder) for folder in folders):
            yield from _shown(path, path)
    for path in namespaces.hidden():
        yield from ("--size", "4096", "--tmpfs", path, "--remount-ro", path)
    yield from _shown(str(CONFINED), f"{HOME}/{CONFINED.relative_to(CONFINED.parents[3])}")
    if engine:
        yield from _shown(engine, seen(engine))
    yield from ("--perms", "1777", "--size", str(TMP_BYTES), "--tmpfs", namespaces.TMP)
    yield from ("--remount-ro", "/", "--chdir", namespaces.TMP)


def _shown(path: str, where: str) -> Iterator[str]:
    """Yield the options that mount a path read-only, and that create its parent folders."""
    for parent in reversed(Path(where).parents[:-1]):
        yield from ("--perms", "0755", "--dir", str(parent))
    yield from ("--ro-bind", path, where)


def _libraries() -> set[str]:
    """Return the path of the loaded libpython, in a set; an empty set if Python uses none."""
    mapped = (line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines())
    return {path for path in mapped if Path(path).name.startswith("libpython")}
