"""A queue's message, its body as a payload, and the interface to a broker.

This module does no I/O.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol
from uuid import UUID

MAX_BYTES = 1024 * 1024


class Unreadable(Exception):
    """The body cannot be used as a payload.

    `code` is stable; the message is a sentence.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class QueueMessage:
    """A message received from a queue.

    `id` is the sender's message ID, if any. `token` is Valkyr's own ID; if `lasting`, it stays the
    same when the message is delivered again. `problem` is set if the message could not be opened.
    """

    body: bytes
    headers: Mapping[str, Any]
    id: str | None
    token: UUID
    lasting: bool
    problem: Unreadable | None = None

    def payload(self) -> Any:
        """Return the JSON value of the body. Raises Unreadable."""
        if self.problem is not None:
            raise self.problem
        return payload_of(self.body)


def payload_of(body: bytes) -> Any:
    """Return the JSON value of a body of at most 1 MiB. Raises Unreadable."""
    if len(body) > MAX_BYTES:
        raise Unreadable(
            "too_large",
            f"The body is {len(body):,} bytes; at most {MAX_BYTES:,} are allowed. Store large "
            "data in a file or a bucket and send its address.",
        )
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        message = f"The body is not UTF-8 text: byte {error.start} cannot be read."
        raise Unreadable("not_utf8", message) from None
    except RecursionError:
        raise Unreadable("not_json", "The body is nested too deeply.") from None
    except ValueError as error:
        raise Unreadable("not_json", f"The body is not valid JSON: {error}.") from None


@dataclass(frozen=True, slots=True)
class OpenedEnvelope:
    """A message of kombu, without its envelope."""

    body: bytes
    headers: dict[str, Any]
    id: str | None


def open_envelope(raw: bytes) -> OpenedEnvelope:
    """Open kombu's envelope of a body in Redis: JSON with a body, headers and properties.

    Raises Unreadable for anything else, and for a compressed body.
    """
    try:
        envelope = json.loads(raw)
        properties, headers = envelope["properties"], envelope.get("headers") or {}
        text, encoding = envelope["body"], properties.get("body_encoding")
        body = base64.b64decode(text) if encoding == "base64" else text.encode()
        found = OpenedEnvelope(body, dict(headers), id_of(properties, headers))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, binascii.Error):
        raise Unreadable(
            "not_kombu",
            "Expected a message in kombu's envelope; for plain JSON, start the consumer with "
            "--raw.",
        ) from None
    if headers.get("compression"):
        raise Unreadable("compressed", "The body is compressed. Send it uncompressed.")
    return found


def id_of(properties: Mapping[str, Any], headers: Mapping[str, Any]) -> str | None:
    """Return the sender's message ID: the property or header `message_id`, or the header `id`.

    Returns None if there is no ID.
    """
    for value in (properties.get("message_id"), headers.get("message_id"), headers.get("id")):
        if isinstance(value, str | int) and str(value):
            return str(value)
    return None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


# The interface to a broker: one message at a time, acknowledged or returned.


class Lost(Exception):
    """The broker is not responding. Unacknowledged messages will be delivered again."""


class UnusableSource(Exception):
    """The broker responds, but trying again will not help."""


class MessageSource(Protocol):
    """One queue of one broker.

    Each method except `close` can raise UnusableSource or Lost; after Lost, it can be repeated.
    """

    def get(self) -> QueueMessage | None:
        """Return the next message, which this source now holds; None if the queue is empty."""

    def acknowledge(self) -> None:
        """Acknowledge the held message; it is not delivered again."""

    def give_back(self) -> None:
        """Return the held message to its position at the front of the queue."""

    def close(self) -> None:
        """Close the connection; the broker redelivers a held message."""
