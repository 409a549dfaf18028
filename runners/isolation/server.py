"""The fork server: a process without threads that has Django loaded and forks one child an order.

A worker's own process cannot be forked: its threads would leave their locks held in the child.
Forked from here a child is ready in milliseconds. The server ends when its worker's end of the
socket closes, however the worker ended, and its children end with it.
"""

import gc
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from types import FrameType

from runners.isolation.protocol import SegmentReport, order, packed
from runners.process.out_of_memory import ChildDeaths

PACKET = 256 * 1024


def main() -> None:
    """Serve the orders that come on standard input, a socket, until it closes."""
    # The step has the process's main thread to itself, as in a child of a prefork pool.
    os.environ["VALKYR_POOL"] = "prefork"
    for number in (signal.SIGTERM, signal.SIGINT):
        # The worker decides when its steps end. Not SIG_IGN: programs of steps would inherit it.
        signal.signal(number, _nothing)
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _load()
    _serve(orders)


def _load() -> None:
    """Import what a step needs, once for all children; opens no connection, starts no thread.

    Without the collector, which would look again and again through what stays: a tenth sooner.
    """
    gc.disable()
    import django

    django.setup()
    from runners.isolation import child  # noqa: F401 - imported for the children

    gc.freeze()
    gc.enable()


def _serve(orders: socket.socket) -> None:
    wakes, waker = socket.socketpair()
    wakes.setblocking(False)
    waker.setblocking(False)
    signal.signal(signal.SIGCHLD, _nothing)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    numbers: dict[int, int] = {}
    deaths = ChildDeaths()
    with selectors.DefaultSelector() as selector:
        selector.register(orders, selectors.EVENT_READ)
        selector.register(wakes, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wakes in ready:
                with suppress(BlockingIOError):
                    wakes.recv(4096)
                _reap(orders, numbers, deaths)
            if orders in ready:
                packet = orders.recv(PACKET)
                if not packet:
                    return
                if not numbers:
                    deaths.look()
                _fork(orders, packet, numbers)


def _fork(orders: socket.socket, packet: bytes, numbers: dict[int, int]) -> None:
    one = order(packet)
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        from runners.isolation import child

        child.main(one, server, orders)  # does not return
    numbers[pid] = one.number
    _tell(orders, SegmentReport(one.number, pid))


def _reap(orders: socket.socket, numbers: dict[int, int], deaths: ChildDeaths) -> None:
    """Tell how each child ended that has."""
    for pid in list(numbers):
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            short = code == -signal.SIGKILL and deaths.short()
            shortage = deaths.judge(pid, used.ru_maxrss) if short else None
            _tell(orders, SegmentReport(numbers.pop(pid), pid, code=code, shortage=shortage))


def _tell(orders: socket.socket, told: SegmentReport) -> None:
    with suppress(OSError):  # the worker is gone; the next read says so
        orders.send(packed(told))


def _nothing(signum: int, frame: FrameType | None) -> None:
    """A handler that only interrupts."""


if __name__ == "__main__":
    main()
    sys.exit()
