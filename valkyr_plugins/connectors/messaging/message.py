"""A message as it goes out, whatever carries it."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runners.public.modules import StepError

MAX_BODY_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class BrokerMessage:
    """Where to (one of `queue`, `stream` and `exchange`), and what; `id` outlives attempts."""

    id: str
    body: bytes
    content_type: str
    is_text: bool
    headers: Mapping[str, str]
    queue: str = ""
    stream: str = ""
    exchange: str = ""
    routing_key: str = ""
    persistent: bool = True
    max_length: int | None = None


@dataclass(frozen=True, slots=True)
class BrokerReceipt:
    """What the broker said: a list's length now, or a stream entry's id."""

    length: int | None = None
    entry_id: str | None = None


def body_of(*, json_value: Any, text: str | None, encoded: str | None) -> tuple[bytes, str]:
    """The bytes and their media type, of whichever is given; raises StepError."""
    if text is not None:
        body, kind = _utf8(text), "text/plain"
    elif encoded is not None:
        body, kind = _decoded(encoded), "application/octet-stream"
    else:
        said = json.dumps(json_value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        body, kind = _utf8(said), "application/json"
    if len(body) > MAX_BODY_BYTES:
        raise StepError(
            f"the message has {len(body):,} bytes, and {MAX_BODY_BYTES:,} is the most: store what "
            "is large with file.write, and send its path"
        )
    return body, kind


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise StepError(
            f"the message holds half a character at {error.start:,}, which UTF-8 cannot write"
        ) from error


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise StepError(f"base64 is no Base64: {error}") from error
