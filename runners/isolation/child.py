"""What an isolated process does: carry one step at a time, and say what went wrong around it.

A process whose step ended in order carries the next suspect, as a child of a prefork pool does: it
has its connection's settings, its version and its modules by then. A death names the one step that
the process carried.
"""

import ctypes
import logging
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from django.db import connections

from runners.isolation import protocol
from runners.isolation.protocol import PACKET, SegmentOrder, SegmentReport, packed
from runners.pipeline import receive
from runners.process import activity
from runners.process.identity import isolate
from runners.process.memory_limit import ISOLATED, limit_memory
from runners.process.out_of_memory import LEAST

log = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
# The kernel ends this process before the worker and its companions.
OOM_SCORE = "800"
MOST = 1000  # characters of an error


def main(order: SegmentOrder, server: int, worker: socket.socket, link: socket.socket) -> NoReturn:
    """Carry the step, and those that come over `link`, and end.

    An error of the engine is told to the worker: it is not the step's. Whether a step was carried
    is what its row says; the exit status only tells how the process ended.
    """
    isolate()
    born = _peak()
    try:
        _confine(order, server)
        activity.be_watched()
        while True:
            receive.run_one_step(
                order.execution_id, order.version_id, order.segment, links=order.links
            )
            activity.rests()
            connections.close_all()  # nothing of a step's is left to the next
            # The most that a process ever held is how memory that ran out is judged: by one step.
            if _peak() - born >= LEAST or (following := _next(link)) is None:
                break
            order = following
    except Exception as error:
        log.exception("a suspect step of %s could not be carried", order.execution)
        told = SegmentReport(
            order.number, os.getpid(), error=f"{type(error).__name__}: {error}"[:MOST]
        )
        with suppress(OSError):
            worker.send(packed(told))
    finally:
        with suppress(Exception):
            connections.close_all()
        logging.shutdown()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _peak() -> int:
    """The most memory that this process has held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _next(link: socket.socket) -> SegmentOrder | None:
    """Say that the step ended; the next order, or None where there is none for a while."""
    link.send(b"done")
    packet = link.recv(PACKET)
    return protocol.order(packet) if packet else None


def _confine(order: SegmentOrder, server: int) -> None:
    """End with the server, go first when memory is short, and take no more than is allowed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(0)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
    limit_memory(order.memory, ISOLATED, for_good=True)
