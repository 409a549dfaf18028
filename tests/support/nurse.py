"""The process from which others are forked: it loads their modules once.

    python tests/support/nurse.py FD MODULE...

imports the modules, then forks one child for each request that it receives through the socket FD.
A child is an ordinary process: it has its own session, environment, folder and terminal, and runs a
program as from a command line, to the interpreter's ordinary end. Only the imports are already
done. All children end with the nurse, and the nurse with its client.

A request is one byte with four files: the program to run, as JSON; the files for the child's output
and for its errors; and a pipe for its pid and, after its end, its exit code. With a fifth file, a
socket, the child becomes a nurse itself: it loads further modules in its own environment.

This script imports nothing of the project except the given modules: a child may run another
release.
"""

import gc
import json
import os
import runpy
import selectors
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
NUMBER = struct.Struct("i")
FILES = 5
# What applies a process's environment, where the project is loaded.
ROLE = "valkyr_project.image.role"


def main() -> None:
    """Serve until the client ends; in a child, run the requested program."""
    number, *modules = sys.argv[1:]
    sys.path[0] = str(PROJECT)
    child = runpy.run_path(str(PROJECT / "valkyr_project" / "embedded" / "child.py"))
    gc.disable()
    request: dict[str, Any] | None = {"socket": int(number), "command": modules}
    own: dict[str, str] = {}  # what the loaded project itself has set
    while request is not None and "socket" in request:
        given = request.get("environment")
        if given is not None:
            _settle(request)
        for name in request["command"]:
            import_module(name)
        if given is not None:
            own = {name: text for name, text in os.environ.items() if name not in given}
        gc.freeze()
        request = _serve(socket.socket(fileno=request["socket"]), child["die_with_parent"])
    gc.enable()
    if request is not None:
        request["environment"] = own | request["environment"]
        _become(request)


def _serve(
    asked: socket.socket, die_with_parent: Callable[[signal.Signals], Callable[[], None]]
) -> dict[str, Any] | None:
    """Fork for each request. Return the request in the child, and None when the client has
    ended.
    """
    ended, wakes = os.pipe()
    for end in (ended, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}
    dies_with_us = die_with_parent(signal.SIGKILL)
    with selectors.DefaultSelector() as waiting:
        waiting.register(asked, selectors.EVENT_READ)
        waiting.register(ended, selectors.EVENT_READ)
        while True:
            ready = {key.fd for key, _ in waiting.select()}
            if ended in ready:
                os.read(ended, 4096)
                _tell_of_the_dead(children)
            if asked.fileno() not in ready:
                continue
            _, files, _, _ = socket.recv_fds(asked, 1, FILES)
            if not files:
                return None
            wanted, output, errors, said, *more = files
            if (pid := os.fork()) == 0:
                break
            children[pid] = said
            os.write(said, NUMBER.pack(pid))
            for file in (wanted, output, errors, *more):
                os.close(file)
    dies_with_us()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for file in (ended, wakes, said, *children.values()):
        os.close(file)
    asked.close()
    _write_into(output, errors)
    with os.fdopen(wanted, encoding="utf-8") as text:
        return dict(json.load(text)) | ({"socket": more[0]} if more else {})


def _tell_of_the_dead(children: dict[int, int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        said = children.pop(pid)
        with suppress(BrokenPipeError):  # no process waits for it any more
            os.write(said, NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(said)


def _write_into(output: int, errors: int) -> None:
    """Make these files the terminal: standard input is empty, and each line is written at once."""
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123 - its number is what is wanted
        os.dup2(nothing.fileno(), 0)
    for stream, file in ((1, output), (2, errors)):
        os.dup2(file, stream)
        os.close(file)
    for text in (sys.stdout, sys.stderr):
        text.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _become(request: dict[str, Any]) -> None:
    """Run the module, script or text as the interpreter runs a command line."""
    os.setsid()
    _settle(request)
    sys.argv = request["command"]
    if request["quiet"]:
        warnings.simplefilter("ignore")
    if role := sys.modules.get(ROLE):
        program = import_module(sys.argv[0])
        role.take(program, sys.argv[1:], {})
        program.main()
    elif text := request["text"]:
        exec(compile(text, "<string>", "exec"), {"__name__": "__main__"})
    elif sys.argv[0].endswith(".py"):
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _settle(request: dict[str, Any]) -> None:
    """Use the environment and the folder of a request."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    more = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:1] = [request["folder"], *more]


if __name__ == "__main__":
    main()
