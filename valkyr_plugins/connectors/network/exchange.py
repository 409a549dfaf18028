"""One HTTP exchange of a step: request, redirects, response, and the meaning of its status.

The HTTP modules share this exchange. So the guarded client, the deadline and the classes of
failures are the same for all.
"""

import base64
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import httpx

from executions.public.tracing import outgoing
from runners.public.modules import StepContext, StepError
from valkyr_plugins.connectors.network.response import (
    ACCEPT_ENCODING,
    ResponseTooLarge,
    TooLong,
    body_value,
    named_errors,
    read_body,
    request_name,
    require_accepted,
)
from valkyr_plugins.connectors.network.transport import client, request_deadline

# Send a request until its final response, with digest authentication and redirects.
#
# Another origin gets no credentials: their headers are dropped, and the exchange ends if the body
# may contain a secret of the step.


MAX_REDIRECTS = 5
# Headers that may be sent to another origin. All others may be credentials.
HARMLESS_HEADERS = frozenset({"accept", "accept-language", "content-type", "user-agent"})


@contextmanager
def followed(
    request: httpx.Request,
    *,
    private: Collection[str],
    digest: httpx.DigestAuth | None,
    follow: bool,
    guarded: bool,
    name: str,
) -> Iterator[httpx.Response]:
    """Follow redirects; yield the final response before its body is read.

    `private` contains the lower-case names of headers that are removed, except harmless ones,
    before a request to another origin. With `guarded`, a redirect that would send a body to
    another origin raises StepError. More than 5 redirects also raise StepError.
    """
    for _ in range(MAX_REDIRECTS + 1):
        response = _sent(request, digest)
        try:
            following = response.next_request if follow else None
            if following is None:
                yield response
                return
        finally:
            # Do not read the body of a redirect, because it may be endless.
            response.close()
        if origin(following.url) != origin(request.url):
            if guarded and _has_body(following):
                raise body_stays(f"{name} redirects", following.url, "set followRedirects to false")
            drop_private(following.headers, private)
            digest = None
        request = following
    raise StepError(f"{name}: more than {MAX_REDIRECTS} redirects")


def origin(url: httpx.URL) -> tuple[str, str, int | None]:
    """Return the URL's scheme, host and port; the port is None if it is the default."""
    return url.scheme, url.host, url.port


def drop_private(headers: httpx.Headers, private: Collection[str]) -> None:
    """Remove the private headers, except harmless ones, which another origin may see."""
    for name in private:
        if name not in HARMLESS_HEADERS:
            headers.pop(name, None)


def _has_body(request: httpx.Request) -> bool:
    """Return whether a redirected request still has a body, as after the status 307 or 308."""
    return (
        request.headers.get("content-length", "0") != "0" or "transfer-encoding" in request.headers
    )


def body_stays(found: str, url: httpx.URL, instead: str) -> StepError:
    """Return the StepError for a body with secrets that would go to another origin.

    `found` says where the URL comes from ("GET a.example redirects"); `instead` says what to do.
    """
    scheme, host, port = origin(url)
    place = f"{scheme}://{host}" + (f":{port}" if port else "")
    return StepError(
        f"{found} to {place}, another origin, and requests the body. The step uses secrets, "
        f"so its body is not sent to another origin: call {place} directly if it may receive "
        f"them, or {instead}"
    )


def _sent(request: httpx.Request, digest: httpx.DigestAuth | None) -> httpx.Response:
    if digest is None:
        return client().send(request, stream=True)
    # httpx would read the body of the challenge, which may be endless. So perform its steps here.
    steps = digest.sync_auth_flow(request)
    challenge = client().send(next(steps), stream=True, auth=httpx.Auth())
    try:
        signed = steps.send(challenge)
    except StopIteration:
        return challenge
    except BaseException:
        challenge.close()
        raise
    challenge.close()
    return client().send(signed, stream=True, auth=httpx.Auth())


MEBIBYTE = 1024 * 1024
CHANGING_METHODS = frozenset({"POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class Call:
    """A request, with limits for the response.

    `content` contains httpx's arguments for a body (`content`, `data`, `files`). Headers are sent
    unchanged, and the query without null values. Authorization comes from the step's credential
    unless `signs_in` is off. The Idempotency-Key is sent if `keyed` is true or, if `keyed` is None,
    if the method changes something. With `digest`, the credential is for Digest authentication (RFC
    7616). `shown` replaces the address in messages if the address itself is secret.
    """

    method: str
    url: str
    headers: Mapping[str, str | int | float] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)
    timeout_seconds: float | None = None
    accept_status: tuple[int | str, ...] = ()
    follow_redirects: bool = True
    max_bytes: int = 5 * MEBIBYTE
    signs_in: bool = True
    keyed: bool | None = None
    digest: bool = False
    shown: str = ""


@dataclass(frozen=True)
class Answer:
    """The response, with its body read and unpacked."""

    response: httpx.Response
    body: bytes
    name: str

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return self.response.status_code

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers, with names in lower case."""
        return dict(self.response.headers)

    @property
    def url(self) -> str:
        """Return the final URL, after redirects, without user and password."""
        return str(self.response.url.copy_with(userinfo=b""))

    @cached_property
    def parsed(self) -> tuple[Any, str]:
        """Return the body as a JSON value, and its form: json, text, base64 or none."""
        return body_value(self.response, self.body)


def send(call: Call, ctx: StepContext) -> Answer:
    """Send the request and read the whole response. Raises StepError."""
    with opened(call, ctx) as response:
        name = request_name(response.request, call.shown)
        try:
            body = read_body(response, call.max_bytes)
        except ResponseTooLarge:
            raise TooLong(
                f"{name} responded with more than {call.max_bytes} bytes: request less, or "
                "raise maxBytes"
            ) from None
        return Answer(response, body, name)


@contextmanager
def opened(call: Call, ctx: StepContext) -> Iterator[httpx.Response]:
    """Yield the response with its body unread. Raises StepError if its status is not accepted."""
    _set_deadline(call, ctx)
    request = _request(call, ctx)
    private = frozenset(name.lower() for name in call.headers) | {"authorization"}
    with (
        named_errors(request, call.shown),
        followed(
            request,
            private=private,
            digest=_digest(call, ctx),
            follow=call.follow_redirects,
            guarded=ctx.uses_secrets,
            name=request_name(request, call.shown),
        ) as response,
    ):
        require_accepted(response, call.accept_status, call.shown)
        yield response


def _set_deadline(call: Call, ctx: StepContext) -> None:
    remaining = ctx.remaining()
    # Slightly before the end of the step, whose own error would not name the slow request.
    seconds = remaining - min(0.2, remaining * 0.05)
    if call.timeout_seconds is not None:
        seconds = min(seconds, call.timeout_seconds)
    request_deadline.set(time.monotonic() + seconds)


def _request(call: Call, ctx: StepContext) -> httpx.Request:
    headers = _headers(call)
    if ctx.credential is not None and call.signs_in and not call.digest:
        if "authorization" in headers:
            raise StepError("headers and the credential both set Authorization: remove one")
        headers["authorization"] = authorization(ctx.credential)
    headers.setdefault("user-agent", "Valkyr")
    headers.setdefault("accept", "*/*")
    headers.setdefault("accept-encoding", ACCEPT_ENCODING)
    if call.method in CHANGING_METHODS if call.keyed is None else call.keyed:
        headers.setdefault("idempotency-key", ctx.idempotency_key)
    for name, value in outgoing().items():
        headers.setdefault(name, value)
    query = {key: value for key, value in call.query.items() if value is not None}
    try:
        url = httpx.URL(call.url).copy_merge_params(query) if query else httpx.URL(call.url)
    except httpx.InvalidURL as error:
        raise StepError(f"url is not a URL: {error}") from error
    return client().build_request(call.method, url, headers=headers, **call.content)


def _headers(call: Call) -> httpx.Headers:
    for name, value in call.headers.items():
        if not (name.isascii() and str(value).isascii()):
            raise StepError(
                f"header {name[:100]!r} contains characters outside of ASCII: encode them as "
                "its receiver expects (percent-encoding, RFC 2047)"
            )
    return httpx.Headers({name: str(value) for name, value in call.headers.items()})


def _digest(call: Call, ctx: StepContext) -> httpx.DigestAuth | None:
    if not call.digest:
        return None
    match ctx.credential:
        case {"username": username, "password": password}:
            return httpx.DigestAuth(username, password)
    raise StepError("authentication digest needs a credential of type basic: name one")


def authorization(credential: Mapping[str, str]) -> str:
    """Return the Authorization header's value: Bearer (RFC 6750), or Basic (RFC 7617, in UTF-8).

    Raises StepError for a credential with other fields, or a token that is not printable ASCII.
    """
    match credential:
        case {"token": token}:
            return f"Bearer {_one_line(token, 'token')}"
        case {"username": username, "password": password}:
            pair = f"{username}:{password}".encode()
            return f"Basic {base64.b64encode(pair).decode()}"
    raise StepError(
        "the credential has the wrong type for HTTP: expected bearer (token) or basic "
        f"(username and password), found the fields {', '.join(sorted(credential))}"
    )


def _one_line(text: str, field: str) -> str:
    """Return the text if it is printable ASCII. Raises StepError, which names `field`."""
    if text.isascii() and text.isprintable():
        return text
    raise StepError(
        f"the credential's {field} is not printable ASCII, so it cannot be sent in a header"
    )
