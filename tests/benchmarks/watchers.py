"""Monitors in a separate process: each reads the stream of one execution until it ends.

`python -m tests.benchmarks.watchers` reads one JSON object (host, port, token, ids) in one line of
standard input and writes one: the time of arrival and the `finishedAt` of every run that came in a
`state` frame, how many streams were open before their execution ended, and this process's seconds
of CPU. Frames are parsed after all executions have ended, so that parsing delays none.
"""

import asyncio
import json
import sys
import time
from typing import Any

Arrived = list[tuple[float, bytes]]


async def watch(given: dict[str, Any], pk: str, arrived: Arrived) -> None:
    """Read one stream line by line; record the time of each data line."""
    reader, writer = await asyncio.open_connection(given["host"], given["port"], limit=2**24)
    head = (
        f"GET /v1/WorkflowExecution/{pk}/subscribe HTTP/1.1\r\nHost: {given['host']}\r\n"
        f"Authorization: Bearer {given['token']}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode())
    event = b""
    async for line in reader:
        if line.startswith(b"event: "):
            event = line[7:].strip()
        elif line.startswith(b"data: ") and event == b"state":
            arrived.append((time.time(), line[6:]))
        elif line.startswith(b"HTTP/1.1") and b" 200 " not in line:
            raise RuntimeError(f"the server answered {line.decode()}")
        if event == b"end":
            break
    writer.close()


async def main() -> None:
    """Run all monitors at once."""
    given = json.loads(sys.stdin.readline())
    streams: list[Arrived] = [[] for _ in given["ids"]]
    watching = zip(given["ids"], streams, strict=True)
    await asyncio.gather(*(watch(given, pk, arrived) for pk, arrived in watching))
    seen = [
        (at, run["finishedAt"])
        for arrived in streams
        for at, line in arrived
        for run in json.loads(line)["runs"]
        if run["finishedAt"]
    ]
    cpu = time.process_time()
    json.dump({"seen": seen, "live": sum(map(bool, streams)), "cpu": cpu}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
