"""A server that answers each call after 2 s and counts how many it serves concurrently.

`GET /stats` answers at once with the peak, the total and the number of connections; `GET /reset`
clears them.
"""

import asyncio
import json
import sys

SECONDS = 2.0
BACKLOG = 1024


class Counter:
    """The number of calls in flight, their peak and their total."""

    def __init__(self) -> None:
        self.now = self.peak = self.total = self.connections = 0


counter = Counter()


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, one after another."""
    called = False
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1]
            if path.startswith(b"/call") and not called:
                called = True
                counter.connections += 1
            body = await answer(path)
            length = str(len(body)).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
                + length + b"\r\n\r\n" + body
            )  # fmt: skip
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def answer(path: bytes) -> bytes:
    """Return the body for a path."""
    if path.startswith(b"/stats"):
        return json.dumps(vars(counter)).encode()
    if path.startswith(b"/reset"):
        counter.peak = counter.total = counter.connections = 0
        return b"{}"
    counter.now += 1
    counter.total += 1
    counter.peak = max(counter.peak, counter.now)
    try:
        await asyncio.sleep(SECONDS)
    finally:
        counter.now -= 1
    return b'{"ok":true}'


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=BACKLOG)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
