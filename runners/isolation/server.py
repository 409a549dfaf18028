"""The fork server: a process without threads that has loaded Django and forks isolated processes.

A worker's own process cannot be forked: its threads would leave their locks held in the child. A
child of the fork server is ready in 0.05 s, and runs one order after another. The server ends when
its worker's end of the socket closes, regardless of how the worker ended, and its children end with
it.
"""

import gc
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Container
from contextlib import suppress
from types import FrameType

from runners.isolation.protocol import PACKET, SegmentReport, order, packed
from runners.process.out_of_memory import ChildDeaths

# Lifetime of an idle process; postponed suspects are sent again sooner (after 4 s).
SPARE_SECONDS = 5.0


def main() -> None:
    """Serve the orders that arrive on standard input, a socket, until the socket closes."""
    # A step runs in its process's main thread, as in a prefork pool.
    os.environ["VALKYR_POOL"] = "prefork"
    for number in (signal.SIGTERM, signal.SIGINT):
        # Only the worker ends steps. SIG_IGN would be inherited by the programs that steps start.
        signal.signal(number, _nothing)
    orders = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _load()
    _serve(orders)


def _load() -> None:
    """Import the packages that steps need, once for all children.

    This opens no connection and starts no thread. The garbage collector is off during the imports,
    because it would repeatedly scan objects that are never freed; this saves a tenth of the time.
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
    with selectors.DefaultSelector() as selector:
        selector.register(orders, selectors.EVENT_READ)
        selector.register(wakes, selectors.EVENT_READ)
        children = _Children(orders, selector)
        while True:
            ready = {key.fileobj for key, _ in selector.select(children.patience())}
            children.listen(ready)
            if wakes in ready:
                with suppress(BlockingIOError):
                    wakes.recv(4096)
                children.reap()
            if orders in ready:
                packet = orders.recv(PACKET)
                if not packet:
                    return
                children.carry(packet)
            children.dismiss()


class _Children:
    """The forked processes: the order that each process runs, and the idle processes."""

    def __init__(self, orders: socket.socket, selector: selectors.BaseSelector) -> None:
        self._orders = orders
        self._selector = selector
        self._numbers: dict[int, int] = {}  # the order that each process runs
        self._links: dict[int, socket.socket] = {}
        # For each idle process: the monotonic time since when it is idle. The newest is last.
        self._idle: dict[int, float] = {}
        self._deaths = ChildDeaths()

    def carry(self, packet: bytes) -> None:
        """Give the order to an idle process, or to a new process."""
        number = order(packet).number
        if not self._numbers:
            self._deaths.look()
        while self._idle:
            pid, _ = self._idle.popitem()
            with suppress(OSError):  # the process has ended
                self._links[pid].send(packet)
                break
        else:
            pid = self._fork(packet)
        self._numbers[pid] = number
        self._tell(SegmentReport(number, pid))

    def listen(self, ready: Container[object]) -> None:
        """Read the reports of processes whose steps ended."""
        for pid, link in list(self._links.items()):
            if link in ready:
                self._hear(pid, link)

    def reap(self) -> None:
        """Report the ends of the children that were executing an order."""
        for pid, link in list(self._links.items()):
            ended, status, used = os.wait4(pid, os.WNOHANG)
            if not ended:
                continue
            self._hear(pid, link)
            self._forget(pid)
            if pid in self._numbers:
                code = os.waitstatus_to_exitcode(status)
                short = code == -signal.SIGKILL and self._deaths.short()
                shortage = self._deaths.judge(pid, used.ru_maxrss) if short else None
                self._tell(SegmentReport(self._numbers.pop(pid), pid, code=code, shortage=shortage))

    def patience(self) -> float | None:
        """Return the seconds until the next idle process must end, or None if none is idle."""
        if not self._idle:
            return None
        return max(0.0, min(self._idle.values()) + SPARE_SECONDS - time.monotonic())

    def dismiss(self) -> None:
        """End processes that have been idle for `SPARE_SECONDS`."""
        long_ago = time.monotonic() - SPARE_SECONDS
        for pid in [pid for pid, since in self._idle.items() if since <= long_ago]:
            del self._idle[pid]
            with suppress(OSError):  # the process has ended meanwhile
                self._links[pid].shutdown(socket.SHUT_WR)

    def _fork(self, packet: bytes) -> int:
        server = os.getpid()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for link in (ours, *self._links.values()):
                link.close()
            from runners.isolation import child

            child.main(order(packet), server, self._orders, theirs)  # does not return
        theirs.close()
        ours.setblocking(False)
        self._links[pid] = ours
        self._selector.register(ours, selectors.EVENT_READ)
        return pid

    def _hear(self, pid: int, link: socket.socket) -> None:
        """Record that a process's step ended normally; `reap` reports a process that exited."""
        with suppress(OSError):
            if link.recv(PACKET) and pid in self._numbers:
                self._tell(SegmentReport(self._numbers.pop(pid), pid, done=True))
                self._idle[pid] = time.monotonic()
                return
        if link in self._selector.get_map():
            self._selector.unregister(link)

    def _forget(self, pid: int) -> None:
        self._idle.pop(pid, None)
        link = self._links.pop(pid)
        if link in self._selector.get_map():
            self._selector.unregister(link)
        link.close()

    def _tell(self, told: SegmentReport) -> None:
        with suppress(OSError):  # the worker has ended; the next read shows this
            self._orders.send(packed(told))


def _nothing(signum: int, frame: FrameType | None) -> None:
    """Ignore a signal, which then only interrupts a system call."""


if __name__ == "__main__":
    main()
    sys.exit()
