"""A bad network between two network namespaces: it delays or drops packets and slows lookups.

    python tests/support/far_line.py '{"far": …, "near": …, "ports": […], "direct": […], …}'

carries IP packets between a TUN device in each namespace, and drops or delays them on the way. In
`near` it listens on `ports` and answers lookups; behind it are the servers of 127.0.0.1. `direct`
are ports that `far` reaches without the line.

Each line on standard input is a JSON object that changes the line's behaviour; the answer is the
counts so far. It is a separate script without the project's packages: a thread of the harness would
deliver packets late.
"""

import asyncio
import ctypes
import errno
import fcntl
import json
import os
import random
import socket
import struct
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

CLONE_NEWNET = 0x40000000
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
DEVICE = b"line0"
PACKET = 65536
BITE = 65536
DNS_PORT = 53
TYPE_A = 1
# Flags of an answer: a response to a recursive question; the same, and the server failed.
ANSWERED, FAILED = 0x8180, 0x8182


@contextmanager
def inside(name: str) -> Iterator[None]:
    """Open sockets and devices in that namespace during the block."""
    libc = ctypes.CDLL(None, use_errno=True)
    here, there = (
        os.open(path, os.O_RDONLY) for path in ("/proc/self/ns/net", f"/run/netns/{name}")
    )
    try:
        _enter(libc, there)
        yield
    finally:
        _enter(libc, here)
        os.close(here)
        os.close(there)


def _enter(libc: ctypes.CDLL, namespace: int) -> None:
    if libc.setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def device() -> int:
    """Return the descriptor of a new TUN device in the current namespace."""
    found = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(found, TUNSETIFF, struct.pack("16sH", DEVICE, IFF_TUN | IFF_NO_PI))
    return found


class FarLine:
    """Both directions of the line, the servers behind it, and the names of its resolver."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._delay = 0.0
        self._loss = {"there": 0.0, "back": 0.0}
        self._names: dict[str, Any] = {"mode": "answers", "delay": 0.0}
        self._random = random.Random(told["seed"])
        self._links: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.counts: Counter[str] = Counter()

    async def begin(self) -> None:
        """Open devices and ports; open what needs addresses after they are set."""
        far, near = self._told["far"], self._told["near"]
        with inside(far):
            one = device()
        with inside(near):
            other = device()
        print("devices", flush=True)
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        assert await reader.readline(), "nobody set the addresses"
        loop.add_reader(one, self._carry, one, other, "there")
        loop.add_reader(other, self._carry, other, one, "back")
        with inside(near):
            listening = [_listening(self._told["address"], port) for port in self._told["ports"]]
            names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            names.bind((self._told["address"], DNS_PORT))
        with inside(far):
            listening += [_listening("127.0.0.1", port) for port in self._told["direct"]]
        names.setblocking(False)
        loop.add_reader(names, self._hear, names)
        for one_port in listening:
            port = one_port.getsockname()[1]
            await asyncio.start_server(partial(self._accept, port), sock=one_port)
        print("ready", flush=True)
        while line := await reader.readline():
            self._change(json.loads(line))
            print(json.dumps(self.counts), flush=True)

    def _change(self, wanted: dict[str, Any]) -> None:
        self._delay = wanted.get("delay", self._delay)
        self._loss |= wanted.get("loss", {})
        self._names |= wanted.get("names", {})
        if wanted.get("reset"):
            for link in self._links:
                link.transport.abort()

    def _carry(self, one: int, other: int, way: str) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(64):
            try:
                packet = os.read(one, PACKET)
            except BlockingIOError:
                return
            self.counts[f"packets {way}"] += 1
            if self._random.random() < self._loss[way]:
                self.counts[f"lost {way}"] += 1
            elif self._delay:
                loop.call_later(self._delay, _deliver, other, packet)
            else:
                _deliver(other, packet)

    def _hear(self, names: socket.socket) -> None:
        question, asker = names.recvfrom(512)
        self.counts["lookups"] += 1
        mode = self._names["mode"]
        if mode == "silent":
            return
        answer = _answer(question, self._told["address"], failed=mode == "fails")
        asyncio.get_running_loop().call_later(self._names["delay"], _say, names, answer, asker)

    async def _accept(
        self, port: int, here: asyncio.StreamReader, back: asyncio.StreamWriter
    ) -> None:
        mine = asyncio.current_task()
        assert mine is not None
        self._tasks.add(mine)
        self.counts["connections"] += 1
        behind: asyncio.StreamWriter | None = None
        try:
            there, behind = await asyncio.open_connection("127.0.0.1", port)
            self._links |= {back, behind}
            await asyncio.gather(_hand_on(here, behind), _hand_on(there, back))
        except OSError:
            back.transport.abort()
        finally:
            self._links -= {back, behind}  # type: ignore[operator]
            self._tasks.discard(mine)


async def _hand_on(one: asyncio.StreamReader, other: asyncio.StreamWriter) -> None:
    try:
        while data := await one.read(BITE):
            other.write(data)
            await other.drain()
    except OSError:
        other.transport.abort()
    finally:
        other.close()


def _deliver(to: int, packet: bytes) -> None:
    try:
        os.write(to, packet)
    except OSError as error:  # a full queue drops packets too
        if error.errno not in {errno.EAGAIN, errno.EINVAL, errno.EIO}:
            raise


def _say(names: socket.socket, answer: bytes, asker: Any) -> None:
    with suppress(OSError):
        names.sendto(answer, asker)


def _listening(address: str, port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    made.listen(512)
    made.setblocking(False)
    return made


def _answer(question: bytes, address: str, *, failed: bool) -> bytes:
    """Return the answer to a lookup: every name has this one address, and no address of another
    kind.
    """
    at = 12
    while question[at]:
        at += question[at] + 1
    [kind] = struct.unpack_from(">H", question, at + 1)
    asked = question[12 : at + 5]
    has = not failed and kind == TYPE_A
    head = question[:2] + struct.pack(">5H", FAILED if failed else ANSWERED, 1, int(has), 0, 0)
    record = b"\xc0\x0c" + struct.pack(">HHIH", TYPE_A, 1, 0, 4) + socket.inet_aton(address)
    return head + asked + (record if has else b"")


if __name__ == "__main__":
    asyncio.run(FarLine(json.loads(sys.argv[1])).begin())
