"""An HTTP response: its body, read up to a limit, and the errors of a failed exchange.

Compressed bodies are unpacked here in pieces of a limited size, so that a small response cannot
expand to gigabytes.
"""

import base64
import json
import re
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NoReturn

import httpx

from executions.public.errors import PayloadError
from executions.public.values import payloads
from runners.public.modules import (
    ErrorType,
    StepError,
    error_type_of,
    parse_retry_after,
    status_error_type,
)

ACCEPT_ENCODING = "gzip, deflate"
PIECE_BYTES = 256 * 1024
# Escapes that may be a NUL or a lone surrogate, which PostgreSQL cannot store in JSON.
ESCAPED = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
MAX_CHECKED = 1 << 30
GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
TEXT_TYPES = frozenset(
    {
        "application/xml",
        "application/javascript",
        "application/yaml",
        "application/x-yaml",
        "application/x-ndjson",
        "application/x-www-form-urlencoded",
    }
)


class ResponseTooLarge(Exception):
    """The body exceeds the limit."""


def read_body(response: httpx.Response, limit: int) -> bytes:
    """Return the unpacked body. Raises ResponseTooLarge as soon as it exceeds `limit` bytes."""
    body = bytearray()
    for piece in unpacked(response, limit):
        body += piece
    return bytes(body)


def unpacked(response: httpx.Response, limit: int) -> Iterator[bytes]:
    """Yield the unpacked body in pieces. Raises ResponseTooLarge above `limit` bytes.

    Raises StepError for a damaged body. A piece of a compressed body has at most PIECE_BYTES.
    """
    left, unpacker = limit, _unpacker(response)
    for chunk in response.iter_raw():
        for piece in unpacker.pieces(chunk):
            left -= len(piece)
            if left < 0:
                raise ResponseTooLarge
            yield piece
    unpacker.finish()


def read_start(response: httpx.Response, limit: int) -> bytes:
    """Return the start of the body, up to `limit` bytes; stop early if the body cannot be read."""
    start = bytearray()
    try:
        unpacker = _unpacker(response)
        for chunk in response.iter_raw():
            for piece in unpacker.pieces(chunk):
                start += piece[: limit - len(start)]
                if len(start) >= limit:
                    return bytes(start)
    except (httpx.HTTPError, StepError):
        pass
    return bytes(start)


def body_value(response: httpx.Response, body: bytes) -> tuple[Any, str]:
    """Return the body as a JSON value, and its form: json, text, base64 or none."""
    if not body:
        return None, "none"
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "application/json" or media_type.endswith("+json"):
        try:
            return storable_json(body), "json"
        except (ValueError, RecursionError, PayloadError):
            # Declared as JSON, but invalid or not storable: return the body as text.
            pass
    text = _text(response, media_type, body)
    # PostgreSQL cannot store a NUL in JSON.
    if text is None or "\x00" in text:
        return base64.b64encode(body).decode("ascii"), "base64"
    return text, "text"


def storable_json(body: bytes) -> Any:
    """Return the JSON value of a body.

    Raises ValueError or RecursionError for invalid JSON, PayloadError if the value is not storable.
    """
    value = json.loads(body, parse_constant=_refuse_constant)
    if ESCAPED.search(body):
        payloads.dump(value, limit=MAX_CHECKED)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _text(response: httpx.Response, media_type: str, body: bytes) -> str | None:
    known = media_type.startswith("text/") or media_type in TEXT_TYPES
    if known or media_type.endswith(("+xml", "json")):
        try:
            return body.decode(response.charset_encoding or "utf-8", "replace")
        except LookupError:
            return body.decode("utf-8", "replace")
    try:
        return body.decode("utf-8") if not media_type else None
    except UnicodeDecodeError:
        return None


class _Plain:
    """Yields an uncompressed body unchanged."""

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        yield chunk

    def finish(self) -> None:
        pass


class _Unpacker:
    """Decompresses gzip, zlib or raw deflate data of one or more members."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(GZIP_OR_ZLIB)
        self._fed = False

    def pieces(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the unpacked chunk in pieces of at most PIECE_BYTES."""
        piece = b""
        # After a piece of the maximum size, more output may follow without further input.
        while chunk or len(piece) == PIECE_BYTES:
            if self._member.eof:
                chunk = chunk.lstrip(b"\0")  # zeros may follow a member (as in Python's gzip)
                if not chunk:
                    return
                self._member = zlib.decompressobj(GZIP_OR_ZLIB)
            piece = self._decompress(chunk)
            if piece:
                yield piece
            chunk = self._member.unconsumed_tail or self._member.unused_data

    def _decompress(self, chunk: bytes) -> bytes:
        first, self._fed = not self._fed, True
        try:
            return self._member.decompress(chunk, PIECE_BYTES)
        except zlib.error as error:
            if first:
                # Some servers send raw deflate data without the zlib header.
                self._member = zlib.decompressobj(-zlib.MAX_WBITS)
                return self._decompress(chunk)
            raise StepError(f"the response's compressed body is damaged: {error}") from error

    def finish(self) -> None:
        if self._fed and not self._member.eof:
            raise StepError("the response's compressed body is incomplete", ErrorType.TRANSIENT)


def _unpacker(response: httpx.Response) -> _Plain | _Unpacker:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Unpacker()
    raise StepError(
        f"the response is encoded as {encoding[:100]!r}, but only one of {ACCEPT_ENCODING} is "
        "supported: remove the Accept-Encoding header"
    )


# Make the error of a failed HTTP exchange: the request, what happened, and whether to retry.


SHOWN_BODY_BYTES = 2_000


class TooLong(StepError):
    """The response's body exceeds the limit."""


def request_name(request: httpx.Request, shown: str = "") -> str:
    """Return the method and the address, without its query and user, which may be secret.

    `shown` replaces an address that is secret as a whole.
    """
    if shown:
        return f"{request.method} {shown}"
    url = request.url
    port = f":{url.port}" if url.port is not None else ""
    return f"{request.method} {url.scheme}://{url.host}{port}{url.path}"


def require_accepted(
    response: httpx.Response, accepted: Collection[int | str], shown: str = ""
) -> None:
    """Raise StepError for a status of 400 or more, unless `accepted` allows it.

    `accepted` can contain single statuses, such as 404, and whole classes, such as `4xx`.
    """
    status = response.status_code
    if status < 400 or {status, f"{status // 100}xx"}.intersection(accepted):
        return
    start = read_start(response, SHOWN_BODY_BYTES)
    raise refused(response, start, request_name(response.request, shown))


def refused(response: httpx.Response, body: bytes, name: str, why: str = "") -> StepError:
    """Return the StepError for a status of 400 or more.

    Its details contain the first 2,000 bytes of `body`; `why`, if given, is added to the message.
    """
    status = response.status_code
    said = f"{name} answered {status} {_phrase(status)}".rstrip()
    return StepError(
        f"{said}: {why}" if why else said,
        status_error_type(status),
        retry_after=retry_after(response),
        details={"status": status, "body": body[:SHOWN_BODY_BYTES].decode("utf-8", "replace")},
    )


def retry_after(response: httpx.Response) -> float | None:
    """Return the response's Retry-After in seconds from now; None if it is missing or invalid."""
    return parse_retry_after(response.headers.get("retry-after"), datetime.now(UTC))


@contextmanager
def named_errors(request: httpx.Request, shown: str = "") -> Iterator[None]:
    """Convert httpx's errors to StepErrors that name the failed request."""
    try:
        yield
    except httpx.LocalProtocolError as error:
        # The error's text quotes the header, which may be a credential.
        raise StepError(
            f"{request_name(request, shown)} cannot be sent: a header's name or value has "
            "characters that HTTP forbids, such as a line break"
        ) from error
    except httpx.HTTPError as error:
        raise StepError(
            f"{request_name(request, shown)}: {type(error).__name__}: {error}".rstrip(": "),
            error_type_of(error),
        ) from error


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
