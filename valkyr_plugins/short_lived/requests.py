"""Requests to servers that issue secrets, without redirects, and within 8 s for each issued value.

The guarded client of HTTP steps sends the requests, so private addresses and hosts outside the
workspace's egress rules are rejected. Errors quote only a response's error texts, never a secret.
"""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from runners.public.modules import ErrorType, StepError, status_error_type
from runners.public.steps import Context
from valkyr_plugins.connectors.network.exchange import Answer, Call, send

# Time limit for all requests of one answer. The step's lease (20 s by default) is not renewed
# during this time.
SECONDS = 8.0
MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, repr=False)
class IssuerAnswer:
    """A response: the status, the JSON object of the body (or {}), and the raw body."""

    status: int
    body: Mapping[str, Any]
    request: str  # method and address, for messages
    raw: bytes = b""

    def text(self, name: str) -> str:
        """Return a text field of the body; "" if it is missing or not a text."""
        found = self.body.get(name)
        return found if isinstance(found, str) else ""

    def seconds(self, name: str) -> float:
        """Return a number of seconds from the body; 0 if it is missing or not a positive number."""
        found = self.body.get(name)
        if isinstance(found, str) and found.isascii() and found.isdigit():
            found = int(found)
        valid = isinstance(found, int | float) and not isinstance(found, bool) and found > 0
        return min(float(found), 10**9) if valid and found is not None else 0.0

    def refused(self, said: str, advice: str) -> StepError:
        """Return an error with `said` (the server's error text, without secrets) and `advice`."""
        kind = status_error_type(self.status) if self.status >= 400 else ErrorType.PERMANENT
        shown = f" ({said[:300]})" if said else ""
        return StepError(f"{self.request} answered {self.status}{shown}. {advice}", kind)


_until: ContextVar[float] = ContextVar("issuer_deadline")


@contextmanager
def limited() -> Iterator[None]:
    """Limit all requests in the block to SECONDS in total."""
    mark = _until.set(time.monotonic() + SECONDS)
    try:
        yield
    finally:
        _until.reset(mark)


def ask(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    data: Mapping[str, Any] | None = None,
    form: Mapping[str, str] | None = None,
    content: bytes | None = None,
) -> IssuerAnswer:
    """Send a request; return the response, whatever its status. Raises StepError.

    Call it in a `limited` block. `data` is sent as JSON, `form` as a form, and `content` unchanged.
    """
    body: dict[str, Any] = {}
    sent = {"accept": "application/json"} | dict(headers or {})
    if data is not None:
        body["content"] = json.dumps(data)
        sent["content-type"] = "application/json"
    elif form is not None:
        body["data"] = dict(form)
    elif content is not None:
        body["content"] = content
    call = Call(
        method,
        url,
        headers=sent,
        content=body,
        timeout_seconds=max(0.001, _until.get() - time.monotonic()),
        accept_status=("4xx", "5xx"),
        follow_redirects=False,
        max_bytes=MAX_BYTES,
        keyed=False,
    )
    return _answer(send(call, _context()))


def _answer(answer: Answer) -> IssuerAnswer:
    try:
        body = json.loads(answer.body) if answer.body else {}
    except (ValueError, RecursionError):
        body = {}
    known = body if isinstance(body, dict) else {}
    return IssuerAnswer(answer.status, known, answer.name, answer.body)


def _context() -> Context:
    return Context(
        execution_id=UUID(int=0),
        step_path="credential",
        attempt=1,
        idempotency_key="",
        seconds=SECONDS + 1,
        variables={},
    )
