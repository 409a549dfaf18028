"""The client of a fork server; the server starts at the first suspect step and ends when idle."""

import itertools
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache

from runners.isolation.protocol import PACKET, SegmentOrder, SegmentReport, packed, report
from runners.process import activity
from runners.process.out_of_memory import Shortage

IDLE_SECONDS = 60.0


class ServerLost(Exception):
    """The fork server ended, and its children with it; no step is the cause."""


@dataclass(slots=True)
class _Pending:
    """An order that was sent: the ID of its process (0 at first), and any error of the engine."""

    ended: "Future[SegmentReport]" = field(default_factory=Future)
    pid: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class End:
    """The end of an isolated process, or of its step if the process continues (`done`).

    `error` is an error of the engine, not of the step.
    """

    pid: int
    code: int | None
    error: str
    shortage: Shortage | None = None
    done: bool = False


class IsolationClient:
    """The client of one fork server, which it starts when needed. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def run(
        self, execution: str, version: str, segment: str, links: tuple[str, ...], memory: int,
        seconds: float,
    ) -> End:  # fmt: skip
        """Run the segment's first step alone in a process, which is killed after `seconds`.

        Raises ServerLost if the server ends, and OSError if it cannot be started or reached.
        """
        pending = _Pending()
        with self._lock:
            server = self._running()
            number = next(self._numbers)
            self._pending[number] = pending
            try:
                server.send(
                    packed(SegmentOrder(number, execution, version, segment, links, memory))
                )
            except OSError:
                del self._pending[number]
                raise
        while True:
            try:
                last = pending.ended.result(seconds)
            except TimeoutError:
                self._kill(number)
            else:
                return End(pending.pid, last.code, pending.error, last.shortage, last.done)

    def stop(self) -> None:
        """End the server and all its children."""
        with self._lock:
            process = self._process
            self._close()
        if process is not None:
            process.kill()  # its children end with it
            process.wait()

    def _running(self) -> socket.socket:
        """Return the socket to the server; start it if needed. The caller holds the lock."""
        if self._socket is not None:
            return self._socket
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "runners.isolation.server"],
                stdin=theirs.fileno(),
                pass_fds=activity.descriptors(),
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        self._socket = ours
        ours.settimeout(IDLE_SECONDS)
        threading.Thread(
            target=self._listen, args=(ours, self._process), name="valkyr-isolation", daemon=True
        ).start()
        return ours

    def _listen(self, server: socket.socket, process: subprocess.Popen[bytes]) -> None:
        while True:
            try:
                packet = server.recv(PACKET)
            except TimeoutError:
                with self._lock:
                    if self._pending:
                        continue
                    self._forget(server)
                break
            except OSError:
                packet = b""
            if not packet:
                self._lose(server)
                break
            self._hear(report(packet))
        process.wait()

    def _hear(self, told: SegmentReport) -> None:
        with self._lock:
            pending = self._pending.get(told.number)
            if pending is None:
                return
            pending.pid = told.pid
            pending.error = pending.error or told.error
            if not told.last:
                return
            del self._pending[told.number]
        pending.ended.set_result(told)

    def _lose(self, server: socket.socket) -> None:
        with self._lock:
            self._forget(server)
            lost = list(self._pending.values())
            self._pending.clear()
        for pending in lost:
            pending.ended.set_exception(ServerLost("the fork server ended"))

    def _forget(self, server: socket.socket) -> None:
        """Close this server's socket, which ends the server; the caller holds the lock."""
        if self._socket is server:
            self._close()
        else:
            server.close()

    def _close(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                # Wakes the thread that reads from the socket.
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        self._socket = self._process = None

    def _kill(self, number: int) -> None:
        with self._lock:
            pending = self._pending.get(number)
            if pending is not None and pending.pid:
                with suppress(ProcessLookupError):
                    os.kill(pending.pid, signal.SIGKILL)


@lru_cache(maxsize=2)
def _client(pid: int) -> IsolationClient:
    return IsolationClient()


def client() -> IsolationClient:
    """Return the client of this process's fork server."""
    return _client(os.getpid())
