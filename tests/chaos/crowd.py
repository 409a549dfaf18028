"""A program with many clients that start executions as fast as they get answers.

    VALKYR_CROWD_TOKEN=… python -m tests.chaos.crowd URL CLIENTS

It ends when its standard input ends, and prints the answers as JSON. It has the lowest priority,
because real clients do not share the server's processors.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from threading import Thread
from uuid import uuid4

import httpx


class Crowd:
    """The clients, and the answers that they got."""

    def __init__(self, url: str, token: str) -> None:
        self.accepted: list[str] = []
        self.answers: Counter[str] = Counter()
        self.silent = 0  # refusals that do not say when to come back
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._over = False

    async def run(self, clients: int) -> None:
        """Return when standard input has ended and each client has its last answer."""
        Thread(target=self._listen, daemon=True).start()
        # Each has its own pool: one of 600 connections searches all of them at each request.
        await asyncio.gather(*(self._client() for _ in range(clients)))

    def _listen(self) -> None:
        sys.stdin.read()
        self._over = True

    async def _client(self) -> None:
        async with httpx.AsyncClient(headers=self._headers, verify=False, timeout=30) as http:
            key = str(uuid4())
            while not self._over:
                if await self._send(http, key):
                    key = str(uuid4())

    async def _send(self, http: httpx.AsyncClient, key: str) -> bool:
        """Start an execution; return whether it was accepted."""
        sent = {"Idempotency-Key": key}
        try:
            answer = await http.post(self._url, json={"params": {}}, headers=sent)
        except httpx.TransportError as error:
            self.answers[type(error).__name__] += 1
            return False
        self.answers[str(answer.status_code)] += 1
        if answer.status_code in {429, 503}:
            self.silent += not answer.headers.get("Retry-After", "").isdigit()
        if answer.status_code == 202:
            self.accepted.append(answer.json()["id"])
        return answer.status_code == 202


def main(url: str, clients: str) -> None:
    """Run the clients, then print their answers."""
    os.nice(19)
    crowd = Crowd(url, os.environ["VALKYR_CROWD_TOKEN"])
    asyncio.run(crowd.run(int(clients)))
    found = {"accepted": crowd.accepted, "answers": crowd.answers, "silent": crowd.silent}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
