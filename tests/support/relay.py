"""A relay to a server on this machine, for networks that split, lose one direction, or are slow.

Data sent while a direction is cut is delivered late, after the repair, as TCP does by sending
again. New connections get no answer while it is cut. The relay needs neither privileges nor network
namespaces.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal
from urllib.parse import urlsplit

Way = Literal["there", "back"]
BITE = 65536


class Relay:
    """Forwards data in both directions, unless one is cut."""

    def __init__(self, url: str) -> None:
        """Listen on a free port of 127.0.0.1 for clients of the server at `url`."""
        self._server = urlsplit(url)
        self._loop = asyncio.new_event_loop()
        self._open: dict[Way, asyncio.Event] = {"there": asyncio.Event(), "back": asyncio.Event()}
        self._delay = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(60), "the relay did not begin"
        account, at, _ = self._server.netloc.rpartition("@")
        netloc = f"{account}{at}127.0.0.1:{self.port}"
        self.url = self._server._replace(netloc=netloc).geturl()

    def cut(self, *ways: Way) -> None:
        """Stop delivering in these directions, by default in both."""
        for way in ways or tuple(self._open):
            self._loop.call_soon_threadsafe(self._open[way].clear)

    def mend(self) -> None:
        """Deliver the data that waited, and all later data."""
        for way in self._open.values():
            self._loop.call_soon_threadsafe(way.set)

    def slow(self, seconds: float) -> None:
        """Delay all data by this time (in seconds), in each direction."""
        self._delay = seconds

    def close(self) -> None:
        """Cut off all connections, and accept no more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        listening = self._loop.run_until_complete(
            asyncio.start_server(self._accept, "127.0.0.1", 0)
        )
        self.port = listening.sockets[0].getsockname()[1]
        for way in self._open.values():
            way.set()
        self._ready.set()
        try:
            self._loop.run_forever()
        finally:
            listening.close()
            for task in self._tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.close()

    async def _accept(self, here: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        me = asyncio.current_task()
        assert me is not None
        self._tasks.add(me)
        try:
            await self._open["there"].wait()
            server = await asyncio.open_connection(self._server.hostname, self._server.port)
            await asyncio.gather(
                self._hand_on(here, server[1], "there"), self._hand_on(server[0], back, "back")
            )
        except OSError:
            back.close()
        except asyncio.CancelledError:
            back.transport.abort()
        finally:
            self._tasks.discard(me)

    async def _hand_on(
        self, one: asyncio.StreamReader, other: asyncio.StreamWriter, way: Way
    ) -> None:
        said: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        delivery = asyncio.ensure_future(self._deliver(said, other, way))
        data = b"-"
        try:
            while data:
                try:
                    data = await one.read(BITE)
                except OSError:
                    data = b""
                said.put_nowait((self._loop.time() + self._delay, data))
            await delivery
        finally:
            delivery.cancel()
            other.transport.abort() if delivery.cancelled() else other.close()

    async def _deliver(
        self, said: asyncio.Queue[tuple[float, bytes]], other: asyncio.StreamWriter, way: Way
    ) -> None:
        while True:
            due, data = await said.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            await self._open[way].wait()
            if not data:
                return
            with suppress(OSError):
                other.write(data)
                await other.drain()


@contextmanager
def relay(url: str) -> Iterator[Relay]:
    """Run a relay to the server at `url` during the block."""
    made = Relay(url)
    try:
        yield made
    finally:
        made.close()
