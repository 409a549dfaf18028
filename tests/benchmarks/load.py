"""Sixteen clients in a separate process that send POST requests on open connections.

`python -m tests.benchmarks.load` reads one JSON object from standard input (host, port, path,
token, bodies, clients, seconds, rate) and writes one: the number of answers by status, and the
milliseconds of each request. It implements HTTP/1.1 itself, so that it uses little of the two cores
that the server needs.
"""

import asyncio
import json
import sys
import time
from typing import Any


async def post(reader: Any, writer: Any, head: bytes, body: bytes) -> int:
    """Send one request on an open connection; return the answer's status."""
    writer.write(head + str(len(body)).encode() + b"\r\n\r\n" + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    lines = answer.split(b"\r\n")
    length = next(
        int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")
    )
    await reader.readexactly(length)
    return int(lines[0].split()[1])


async def client(given: dict[str, Any], number: int, found: dict[str, Any]) -> None:
    """Send until the time has passed: as fast as answers arrive, or at the client's share of a
    rate.
    """
    reader, writer = await asyncio.open_connection(given["host"], given["port"])
    head = (
        f"POST {given['path']} HTTP/1.1\r\nHost: {given['host']}\r\n"
        f"Authorization: Bearer {given['token']}\r\nContent-Type: application/json\r\n"
        "Content-Length: "
    ).encode()
    body = given["body"].encode()
    pause = given["clients"] / given["rate"] if given["rate"] else 0.0
    begin = time.perf_counter()
    due = begin + pause * number / given["clients"]
    while time.perf_counter() - begin < given["seconds"]:
        if pause:
            # Measured from the due time, or a slow server would get fewer requests and look fast.
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            sent, due = due, due + pause
        else:
            sent = time.perf_counter()
        status = await post(reader, writer, head, body)
        found["statuses"][status] = found["statuses"].get(status, 0) + 1
        found["ms"].append(1000 * (time.perf_counter() - sent))
    writer.close()


async def main() -> None:
    """Run all clients at once."""
    given = json.load(sys.stdin)
    found: dict[str, Any] = {"statuses": {}, "ms": []}
    began = time.perf_counter()
    await asyncio.gather(*(client(given, n, found) for n in range(given["clients"])))
    found["seconds"] = time.perf_counter() - began
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
