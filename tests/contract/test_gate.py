"""Requests that the ASGI application rejects before Django reads a byte."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings

from tests.support.coroutines import awaited
from valkyr_project.http.asgi_middleware import Gate
from valkyr_project.http.handler import Handler

# Django closes old connections at every request, also if it needs none.
pytestmark = pytest.mark.django_db
LIMIT = django_settings.DATA_UPLOAD_MAX_MEMORY_SIZE
PROBLEM = "application/problem+json"


@awaited
async def send(method: str, address: str, **more: Any) -> httpx.Response:
    application = Gate(Handler(), LIMIT)
    transport = httpx.ASGITransport(application)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return await client.request(method, address, **more)


async def pieces(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 100_000):
        yield b"x" * 100_000


def test_a_body_that_says_it_is_too_large_is_refused() -> None:
    answer = send("POST", "/v1/Workflow", content=b"x" * (LIMIT + 1))

    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == PROBLEM
    assert answer.json()["code"] == "body_too_large"


def test_a_body_that_grows_too_large_is_refused() -> None:
    answer = send("POST", "/v1/Workflow", content=pieces(LIMIT + 200_000))

    assert answer.status_code == 413
    assert answer.headers["Content-Type"] == PROBLEM


def test_a_body_of_just_the_limit_is_let_in() -> None:
    answer = send("POST", "/v1/Nothing", content=b"x" * LIMIT)

    assert answer.status_code == 401


@pytest.mark.parametrize("charset", ["base64", "idna", "utf-16", "no-such", '"rot13"'])
def test_an_odd_charset_does_not_reach_a_decoder(charset: str) -> None:
    kind = f"application/json; charset={charset}"

    answer = send("POST", "/v1/Workflow?x=%ff%c3", content=b"{}", headers={"Content-Type": kind})

    assert answer.status_code == 401
    assert answer.headers["Content-Type"] == PROBLEM
