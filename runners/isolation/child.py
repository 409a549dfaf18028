"""What an isolated process does: carry one step, say what went wrong around it, and end."""

import ctypes
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from django.db import connections

from runners.isolation.protocol import SegmentOrder, SegmentReport, packed
from runners.pipeline import receive
from runners.process import activity
from runners.process.identity import isolate
from runners.process.memory_limit import ISOLATED, limit_memory

log = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
# The kernel ends this process before the worker and its companions.
OOM_SCORE = "800"
MOST = 1000  # characters of an error


def main(order: SegmentOrder, server: int, worker: socket.socket) -> NoReturn:
    """Carry the step and end. An error of the engine is told to the worker: it is not the step's.

    Whether the step was carried is what its row says; the exit status only tells how it ended.
    """
    isolate()
    try:
        _confine(order, server)
        activity.be_watched()
        receive.run_one_step(order.execution_id, order.version_id, order.segment, links=order.links)
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


def _confine(order: SegmentOrder, server: int) -> None:
    """End with the server, go first when memory is short, and take no more than is allowed."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os._exit(0)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(OOM_SCORE)
    limit_memory(order.memory, ISOLATED, for_good=True)
