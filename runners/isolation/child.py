"""An isolated process: it runs one step at a time, and reports the engine's own errors.

A process whose step ended normally can run the next suspect, as a child of a prefork pool does. The
versions and modules that it used stay loaded. If the process dies, `run_isolated` decides whether
the step that it was running is the cause.
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
from runners.process import activity, last_words
from runners.process.identity import isolate
from runners.process.memory_limit import ISOLATED, limit_memory
from runners.process.out_of_memory import LEAST

log = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
# The value of oom_score_adj: if memory is short, the kernel ends this process before the worker and
# the worker's other processes.
OOM_SCORE = "800"
MOST = 1000  # maximum characters of an error


def main(order: SegmentOrder, server: int, worker: socket.socket, link: socket.socket) -> NoReturn:
    """Run the order's step, then the steps of later orders that arrive over `link`; then exit.

    An error of the engine is reported to the worker: the step did not cause it. The row shows
    whether a step was executed; the exit status shows only how the process ended.
    """
    isolate()
    born = _peak()
    try:
        _confine(order, server)
        activity.be_watched()
        while True:
            kept = receive.run_one_step(
                order.execution_id, order.version_id, order.segment, links=order.links
            )
            activity.rests()
            if not kept:
                # The row may still name this process as the holder. The note shows that the step
                # did not end the process.
                last_words.leave(os.getpid())
                break
            connections.close_all()  # the next step must not use this step's connections
            # The process's peak of memory decides whether its step exhausted the memory. If this
            # step raised the peak, the next step gets a new process.
            if _peak() - born >= LEAST or (following := _next(link)) is None:
                break
            order = following
    except Exception as error:
        log.exception("a suspect step of %s could not be executed", order.execution)
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
    """Return this process's peak memory use, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _next(link: socket.socket) -> SegmentOrder | None:
    """Report that the step ended; return the next order, or None if the server sends none."""
    link.send(b"done")
    packet = link.recv(PACKET)
    return protocol.order(packet) if packet else None


def _confine(order: SegmentOrder, server: int) -> None:
    """Make the process end with the server, and limit the process's memory.

    When memory is short, the kernel kills this process before others.
    """
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(0)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
    limit_memory(order.memory, ISOLATED, for_good=True)
