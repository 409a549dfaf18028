"""The launcher, which forks the other processes: `python -m valkyr_project.image.launcher FD`.

Each request arrives through the socket FD, and starts one process. It consists of JSON with
`command` (the arguments of `python -m`) and `environment` (variables to add), and of two file
descriptors: for the new process's output, and for its pid and exit code. The new process runs in a
separate session, and ends with the launcher; the launcher ends with its client.
"""

import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from valkyr_project.embedded.child import die_with_parent

NUMBER = struct.Struct("i")
LONGEST_REQUEST = 32 * 1024
FILES = 2
# Bytes: alignment and maximum size of CPython's small objects, and the maximum size of the holes to
# fill for each object size.
ALIGNED, LONGEST_SMALL = 16, 512
HOLES = 100 * 1024


def main() -> None:
    """Load the code, and serve until the client ends. A child becomes the requested process."""
    gc.disable()
    from valkyr_project.image import contents

    contents.load()
    gc.collect()
    filled = _fill_holes()
    # Otherwise, the garbage collector's marks would copy each page that it examines.
    gc.freeze()
    asked = socket.socket(fileno=int(sys.argv[1]))
    request = _serve(asked, die_with_parent(signal.SIGKILL))
    if request is not None:
        gc.enable()
        _become(request)
    del filled  # until now, no new object was created between the shared ones


def _fill_holes() -> list[bytes]:
    """Return objects that fill the gaps between loaded objects, in each of Python's size classes.

    A child then creates new objects in its own pages, so the kernel need not copy shared pages.
    """
    empty = sys.getsizeof(b"")
    sizes = range(ALIGNED, LONGEST_SMALL + 1, ALIGNED)
    return [bytes(size - empty) for size in sizes if size > empty for _ in range(HOLES // size)]


def _serve(asked: socket.socket, dies_with_us: Callable[[], None]) -> dict[str, Any] | None:
    """Fork a process for each request.

    Returns the request in the child. Returns None in the launcher once the supervisor has closed
    the socket.
    """
    ended, wakes = os.pipe()
    for end in (ended, wakes):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}
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
            text, files, _, _ = socket.recv_fds(asked, LONGEST_REQUEST, FILES)
            if not files:
                return None
            output, said = files
            if (pid := os.fork()) == 0:
                break
            children[pid] = said
            os.write(said, NUMBER.pack(pid))
            os.close(output)
    dies_with_us()
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for stream in (1, 2):
        os.dup2(output, stream)
    for file in (ended, wakes, output, said, *children.values()):
        os.close(file)
    asked.close()
    return dict(json.loads(text))


def _tell_of_the_dead(children: dict[int, int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        said = children.pop(pid)
        with suppress(BrokenPipeError):  # the supervisor no longer reads
            os.write(said, NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(said)


def _become(request: dict[str, Any]) -> None:
    from valkyr_project.image import role

    os.setsid()
    module, *words = request["command"]
    program = import_module(module)
    role.take(program, words, request["environment"])
    program.main()


if __name__ == "__main__":
    main()
