"""IDs in requests: those that callers send, and those that Valkyr sends to other servers.

A request's ID, and the trace and span in its `traceparent` (https://www.w3.org/TR/trace-context/),
are used if they are well formed.
"""

import re
import secrets
from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass

from executions.ports import trace_headers

LONGEST_ID = 128
LONGEST_TRACEPARENT = 512
_ID = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:@/+=-]{{0,{LONGEST_ID - 1}}}")
# A later version may add fields after another dash.
_TRACEPARENT = re.compile(
    r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[ -~]*)?"
)


@dataclass(frozen=True, slots=True)
class Parent:
    """The caller's span: the ID of its trace, its own ID, and its `sampled` flag (0 or 1)."""

    trace_id: str
    span_id: int
    flags: int


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request's ID, the trace's ID, and the caller's span if the request names one."""

    request_id: str
    trace_id: str
    parent: Parent | None


# The current request; set where requests arrive.
incoming: ContextVar[Incoming | None] = ContextVar("valkyr_incoming", default=None)


def read(headers: Iterable[tuple[bytes, bytes]]) -> Incoming:
    """Return the IDs in an ASGI request's headers; generate missing and malformed IDs."""
    request_id, parent, told = "", None, 0
    for name, value in headers:
        if name == b"x-request-id":
            request_id = _request_id(value)
        elif name == b"traceparent":
            told += 1
            parent = parent_of(value.decode("latin-1"))
    if told > 1:
        parent = None  # it is unknown which one is right
    trace_id = parent.trace_id if parent else secrets.token_hex(16)
    return Incoming(request_id or secrets.token_hex(16), trace_id, parent)


def parent_of(text: str) -> Parent | None:
    """Return the span that a `traceparent` names; None if it is invalid."""
    if len(text) > LONGEST_TRACEPARENT:
        return None
    found = _TRACEPARENT.fullmatch(text.strip())
    if found is None or (found[1] == "00" and found[5]):
        return None
    if not int(found[2], 16) or not int(found[3], 16):
        return None
    return Parent(found[2], int(found[3], 16), int(found[4], 16) & 1)


def outgoing() -> dict[str, str]:
    """Return headers that pass the current span to servers; {} if there is no current span."""
    return trace_headers() if trace_headers.provided else {}


def _request_id(value: bytes) -> str:
    text = value[: LONGEST_ID + 1].decode("latin-1")
    return text if _ID.fullmatch(text) else ""
