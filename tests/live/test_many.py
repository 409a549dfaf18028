"""Many viewers, slow viewers, and no viewers."""

import asyncio
import re
import socket
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

import httpx
from django.db import connection

from executions.database.clock import database_now
from executions.models import Workflow
from tests.live import moving
from tests.live.moving import do, in_database, run_at
from tests.support.coroutines import awaited
from tests.support.viewing import viewing
from tests.support.waiting import wait_until
from tests.support.watching import LiveRun, read_events, watch
from tests.support.web_server import WebServer
from tests.support.workflows import start_many

Address = Callable[[UUID], str]
Headers = dict[str, str]
VIEWERS = 50


@awaited
async def watched_by_many(
    urls: list[str], headers: Headers, go: Callable[[], None]
) -> list[LiveRun]:
    """Return what each viewer has received by the end; call `go` when all of them have begun."""
    begun = asyncio.Barrier(len(urls) + 1)
    async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:

        async def one(url: str) -> LiveRun:
            seen, block = LiveRun(), ""
            async with client.stream("GET", url, headers=headers) as answer:
                async for line in answer.aiter_lines():
                    block += f"{line}\n"
                    if line:
                        continue
                    for event in read_events(block.splitlines()):
                        seen.take(*event)
                        if len(seen.events) == 1:
                            await begun.wait()
                    block = ""
            return seen

        tasks = [asyncio.create_task(one(url)) for url in urls]
        async with asyncio.timeout(60):
            await begun.wait()
            await asyncio.to_thread(go)
            return await asyncio.gather(*tasks)


def asked_since(web: WebServer, moment: datetime) -> bool:
    """Return whether the web process has begun a statement since then."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(max(query_start) > %s, false) FROM pg_stat_activity "
            "WHERE application_name = %s AND datname = current_database()",
            [moment, f"valkyr-{web.name}"],
        )
        row = cursor.fetchone()
    assert row is not None
    return bool(row[0])


def wait_for_a_look(web: WebServer) -> None:
    now = database_now()
    wait_until(lambda: asked_since(web, now), what="a look of the hub")


def rests(web: WebServer) -> bool:
    """Return whether the web process has sent no query for longer than the usual interval."""
    return not asked_since(web, database_now() - timedelta(seconds=2.5))


def test_fifty_viewers_see_all_and_share_a_few_connections(
    web: WebServer, address: Address, ann: Headers, workflow: Workflow
) -> None:
    executions = start_many(workflow, [{}] * 5)
    found: list[int] = []

    def go() -> None:
        try:
            for execution in executions:
                for statement in (moving.TAKE, moving.FINISH):
                    for pk in in_database(execution):
                        do(statement, pk)
            found.append(web.sessions())
            for execution in executions:
                do(moving.END, execution)
        finally:
            connection.close()  # this thread's own

    urls = [address(executions[n % 5]) for n in range(VIEWERS)]
    all_seen = watched_by_many(urls, ann, go)

    assert found[0] <= 10
    for number, seen in enumerate(all_seen):
        assert seen.events[-1] == "end"
        assert seen.states() == in_database(executions[number % 5])


def test_nothing_is_read_while_nobody_watches(
    web: WebServer, address: Address, ann: Headers, execution: UUID
) -> None:
    with viewing(address(execution), ann):
        wait_for_a_look(web)

    wait_until(lambda: rests(web), what="a long rest")

    with viewing(address(execution), ann):
        wait_for_a_look(web)


def test_who_does_not_read_is_dropped_and_catches_up(
    address: Address, ann: Headers, execution: UUID
) -> None:
    url = urlsplit(address(execution))
    a = run_at(execution, "a.main")
    do(moving.COPY, 4_000, a.pk)
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    slow.connect((url.hostname, url.port))
    sent = {"Host": url.netloc, **ann}
    lines = [f"GET {url.path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items())]
    slow.sendall("\r\n".join([*lines, "", ""]).encode())
    begun = b""
    while not (told := re.search(rb"id: (\d+)\nevent: snapshot", begun)):
        begun += slow.recv(1_000)
    with viewing(address(execution), ann) as quick:
        for turn in range(10):
            do("UPDATE runners_run SET recoveries = %s WHERE execution_id = %s", turn, execution)
            quick.until(
                lambda seen, turn=turn: {run["recoveries"] for run in seen.runs.values()} == {turn},
                "the turn",
            )

    slow.settimeout(30)
    end = b""
    # What was already sent, then the last chunk, long before the stream's time limit.
    while not end.endswith(b"\r\n0\r\n\r\n"):
        part = slow.recv(1_000_000)
        assert part, "the connection ended within the stream"
        end = (end + part)[-16:]
    slow.close()

    seen = LiveRun(last=told[1].decode())
    back = watch(address(execution), ann, seen, frames=1)
    assert back.events == ["state"]
    assert {run["recoveries"] for run in back.runs.values()} == {9}
    assert len(back.runs) == 4_003
