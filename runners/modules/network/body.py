"""Reads an answer's body under a cap, and makes of it a value that can be stored as JSON.

Compressed bodies are unpacked here, never more than the cap at a time, so that a small answer
cannot unfold into gigabytes.
"""

import base64
import json
import zlib
from typing import Any, NoReturn

import httpx

from runners.modules.base import StepError
from runners.states import ErrorType

ACCEPT_ENCODING = "gzip, deflate"
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


class BodyTooLarge(Exception):
    """The body goes past the cap."""


def read_body(response: httpx.Response, limit: int) -> bytes:
    """The unpacked body; raises BodyTooLarge as soon as it is known to pass `limit` bytes."""
    body, unpacker = bytearray(), _unpacker(response)
    for chunk in response.iter_raw():
        body += unpacker.feed(chunk, limit + 1 - len(body))
        if len(body) > limit:
            raise BodyTooLarge
    unpacker.finish()
    return bytes(body)


def read_start(response: httpx.Response, limit: int) -> bytes:
    """The body's first `limit` bytes, or what can be had of them; for error messages."""
    start = bytearray()
    try:
        unpacker = _unpacker(response)
        for chunk in response.iter_raw():
            start += unpacker.feed(chunk, limit - len(start))
            if len(start) >= limit:
                break
    except (httpx.HTTPError, StepError):
        pass
    return bytes(start)


def body_value(response: httpx.Response, body: bytes) -> tuple[Any, str]:
    """The body as a JSON-able value, and how it was read: json, text, base64 or none."""
    if not body:
        return None, "none"
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "application/json" or media_type.endswith("+json"):
        try:
            return json.loads(body, parse_constant=_refuse_constant), "json"
        except (ValueError, RecursionError):
            # Announced as JSON and none: the text shows the user what it is.
            pass
    text = _text(response, media_type, body)
    # PostgreSQL stores no NUL in JSON.
    if text is None or "\x00" in text:
        return base64.b64encode(body).decode("ascii"), "base64"
    return text, "text"


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
    """A body that is not compressed."""

    def feed(self, chunk: bytes, limit: int) -> bytes:
        return chunk[:limit]

    def finish(self) -> None:
        pass


class _Unpacker:
    """gzip, zlib or raw deflate, in one or several members."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(GZIP_OR_ZLIB)
        self._fed = False

    def feed(self, chunk: bytes, limit: int) -> bytes:
        """At most `limit` bytes; where it gives so many, the rest of the chunk is lost."""
        unpacked = bytearray()
        while chunk and len(unpacked) < limit:
            if self._member.eof:
                self._member = zlib.decompressobj(GZIP_OR_ZLIB)
            unpacked += self._decompress(chunk, limit - len(unpacked))
            chunk = self._member.unused_data
        return bytes(unpacked)

    def _decompress(self, chunk: bytes, limit: int) -> bytes:
        first, self._fed = not self._fed, True
        try:
            return self._member.decompress(chunk, limit)
        except zlib.error as error:
            if first:
                # Some servers send deflate without its zlib header.
                self._member = zlib.decompressobj(-zlib.MAX_WBITS)
                return self._decompress(chunk, limit)
            raise StepError(f"the answer's compressed body is damaged: {error}") from error

    def finish(self) -> None:
        if self._fed and not self._member.eof:
            raise StepError(
                "the answer's compressed body ended before its end", ErrorType.TRANSIENT
            )


def _unpacker(response: httpx.Response) -> _Plain | _Unpacker:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding in ("identity", ""):
        return _Plain()
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Unpacker()
    raise StepError(
        f"the answer is encoded as {encoding[:100]!r}, but only one of {ACCEPT_ENCODING} is "
        "understood: leave the Accept-Encoding header out"
    )
