"""A server that speaks Stripe's API: localstripe, at 127.0.0.1, with Stripe's idempotency keys.

Run it as a separate process with `python -m tests.support.counterparts.stripe`; it prints its port.
localstripe has no idempotency keys, and reports a declined card as an invalid request. This module
adds both as Stripe's documentation describes them. `GET /_counterpart/calls` lists the requests.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

Answer = tuple[int, bytes]
PROJECT = Path(__file__).parents[3]
READY = "listening at "


class StripeServer:
    """The process; `url` is its address."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.counterparts.stripe"],
            cwd=PROJECT,
            stdout=subprocess.PIPE,
            stdin=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "ignore"},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith(READY), line
        self.url = line.removeprefix(READY).strip()

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


class _StripeLike:
    """Adds what localstripe lacks to each of its answers."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[str, Answer]] = {}
        self.calls: list[dict[str, str]] = []

    async def answer(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        if request.path == "/_counterpart/calls":
            return _json(200, self.calls)
        said = (await request.read()).decode()
        key = self._note(request, said)
        if "stub_status" in said:
            return _stub(said)
        if key in self.known:
            return self._replayed(key, f"{request.path} {said}")
        answer = await handler(request)
        if answer.status == 402:
            answer = _declined(json.loads(answer.body))
        if key:
            self.known[key] = f"{request.path} {said}", (answer.status, answer.body)
        return answer

    def _note(self, request: Any, said: str) -> str:
        key = str(request.headers.get("Idempotency-Key", ""))
        account = request.headers.get("Stripe-Account", "")
        call = {"method": request.method, "path": request.path, "body": said}
        self.calls.append(call | {"key": key, "account": account})
        return key

    def _replayed(self, key: str, request: str) -> Any:
        from aiohttp import web

        seen, (status, body) = self.known[key]
        if seen != request:
            return _error(400, "idempotency_error", "Keys can only be used with the same request.")
        return web.Response(status=status, body=body, content_type="application/json")


def _stub(said: str) -> Any:
    """Return the answer that the test requested with `stub_status <status>` in the description."""
    status = int(said.partition("stub_status+")[2][:3])
    kind = "rate_limit_error" if status == 429 else "api_error"
    answer = _error(status, kind, "as asked")
    answer.headers["Retry-After"] = "7"
    return answer


def _declined(body: dict[str, Any]) -> Any:
    return _json(402, {"error": {"decline_code": "generic_decline", **body["error"],
                                 "type": "card_error"}})  # fmt: skip


def _error(status: int, kind: str, message: str) -> Any:
    return _json(status, {"error": {"type": kind, "message": message}})


def _json(status: int, value: Any) -> Any:
    from aiohttp import web

    return web.json_response(value, status=status)


async def _serve() -> None:
    from aiohttp import web
    from localstripe.resources import Store
    from localstripe.server import app

    Store.dump_to_disk = lambda self: None  # it would store everything in /tmp
    like = _StripeLike()

    @web.middleware
    async def around(request: web.Request, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        return await like.answer(request, handler)

    app.middlewares.insert(0, around)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    print(f"{READY}http://{host}:{port}", flush=True)
    # It ends with its starter: the pipe closes.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
