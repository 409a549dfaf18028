"""One HTTP exchange of a step: request, redirects, answer, and what its status means."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any

import httpx

from runners.modules.base import StepContext, StepError
from runners.modules.network.authorization import authorization
from runners.modules.network.body import (
    ACCEPT_ENCODING,
    BodyTooLarge,
    body_value,
    read_body,
    read_start,
)
from runners.modules.network.http_request import HttpRequestInputs
from runners.modules.network.transport import client, request_deadline
from runners.outcomes import error_type_of, status_error_type
from runners.retry import parse_retry_after

MAX_REDIRECTS = 5
SHOWN_BODY_BYTES = 2_000
CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# What may follow a redirect to another origin; the rest may be credentials.
HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


def exchange(inputs: HttpRequestInputs, ctx: StepContext) -> dict[str, Any]:
    """Send the request and yield `HttpRequestOutputs` as a mapping; raises StepError."""
    started = time.monotonic()
    remaining = ctx.remaining()
    # A little earlier than the step's own end, which could not tell what it was that took so long.
    seconds = remaining - min(0.2, remaining * 0.05)
    if inputs.timeout_seconds is not None:
        seconds = min(seconds, inputs.timeout_seconds)
    request_deadline.set(started + seconds)
    request = _request(inputs, ctx)
    with _named_errors(request), _answer(request, inputs) as response:
        _require_accepted(response, inputs)
        try:
            body = read_body(response, inputs.max_bytes)
        except BodyTooLarge:
            raise StepError(
                f"{_name(response.request)} answered with more than {inputs.max_bytes} bytes: "
                "ask for less, or raise maxBytes"
            ) from None
    value, encoding = body_value(response, body)
    return {
        "status": response.status_code,
        "headers": dict(response.headers),
        "body": value,
        "bodyEncoding": encoding,
        "url": str(response.url.copy_with(userinfo=b"")),
        "durationMs": round((time.monotonic() - started) * 1000, 1),
    }


def _request(inputs: HttpRequestInputs, ctx: StepContext) -> httpx.Request:
    headers = httpx.Headers({name: str(value) for name, value in inputs.headers.items()})
    if ctx.credential is not None:
        if "authorization" in headers:
            raise StepError("headers and the credential both give Authorization: take one out")
        headers["authorization"] = authorization(ctx.credential)
    headers.setdefault("user-agent", "Valkyr")
    headers.setdefault("accept", "*/*")
    headers.setdefault("accept-encoding", ACCEPT_ENCODING)
    if inputs.method in CHANGING_METHODS:
        headers.setdefault("idempotency-key", ctx.idempotency_key)
    query = {key: value for key, value in inputs.query.items() if value is not None}
    content: dict[str, Any] = {}
    if inputs.body is not None:
        content["content"] = inputs.body.encode()
    elif inputs.form is not None:
        content["data"] = inputs.form
    elif "json_body" in inputs.model_fields_set:
        # Written here because httpx takes a null for no body at all.
        text = json.dumps(inputs.json_body, ensure_ascii=False, allow_nan=False)
        content["content"] = text.encode()
        headers.setdefault("content-type", "application/json")
    try:
        url = httpx.URL(inputs.url).copy_merge_params(query)
    except httpx.InvalidURL as error:
        raise StepError(f"url is not a URL: {error}") from error
    return client().build_request(inputs.method, url, headers=headers, **content)


@contextmanager
def _answer(request: httpx.Request, inputs: HttpRequestInputs) -> Iterator[httpx.Response]:
    """The final answer, its body not read yet, after the redirects that are to be followed."""
    for _ in range(MAX_REDIRECTS + 1):
        response = client().send(request, stream=True)
        try:
            following = response.next_request if inputs.follow_redirects else None
            if following is None:
                yield response
                return
        finally:
            # The body of a redirect is not read: it may be endless.
            response.close()
        if _origin(following.url) != _origin(request.url):
            _drop_private_headers(following, inputs)
        request = following
    raise StepError(f"{_name(request)}: more than {MAX_REDIRECTS} redirects")


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _drop_private_headers(request: httpx.Request, inputs: HttpRequestInputs) -> None:
    for name in (*inputs.headers, "authorization"):
        if name.lower() not in HARMLESS_HEADERS:
            request.headers.pop(name, None)


def _require_accepted(response: httpx.Response, inputs: HttpRequestInputs) -> None:
    status = response.status_code
    if status < 400 or {status, f"{status // 100}xx"}.intersection(inputs.accept_status):
        return
    start = read_start(response, SHOWN_BODY_BYTES)
    raise StepError(
        f"{_name(response.request)} answered {status} {_phrase(status)}".rstrip(),
        status_error_type(status),
        retry_after=parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC)),
        details={"status": status, "body": start.decode("utf-8", "replace")},
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


@contextmanager
def _named_errors(request: httpx.Request) -> Iterator[None]:
    """Tell which request failed: httpx's own messages do not."""
    try:
        yield
    except httpx.HTTPError as error:
        raise StepError(
            f"{_name(request)}: {type(error).__name__}: {error}".rstrip(": "),
            error_type_of(error),
        ) from error


def _name(request: httpx.Request) -> str:
    """Method and address, without the query and user, which may be secret."""
    url = request.url
    port = f":{url.port}" if url.port is not None else ""
    return f"{request.method} {url.scheme}://{url.host}{port}{url.path}"
