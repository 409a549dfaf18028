"""What servers that call themselves OpenAI-compatible do not know, and how it is put otherwise.

A request that is refused (400 or 422) for a key that the server does not know cost nothing, so it
is sent again without it; each change is made once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RequestChange:
    """A key of requests that a refusal may name, and the request without it."""

    key: str
    otherwise: Callable[[Body], Body]


def _without(key: str) -> Callable[[Body], Body]:
    return lambda body: {name: value for name, value in body.items() if name != key}


def _newer_limit(body: Body) -> Body:
    """OpenAI's models that reason want the limit under its newer name."""
    return {**_without("max_tokens")(body), "max_completion_tokens": body["max_tokens"]}


def _plain_object(body: Body) -> Body:
    """Ask for JSON alone; the schema stands in the prompt as well."""
    if body["response_format"].get("type") == "json_schema":
        return {**body, "response_format": {"type": "json_object"}}
    return _without("response_format")(body)


CHANGES = (
    RequestChange("max_tokens", _newer_limit),
    RequestChange("stream_options", _without("stream_options")),
    RequestChange("response_format", _plain_object),
)
MOST_CHANGES = 4
REFUSALS = (
    "unsupported", "not support", "unknown", "unrecognized", "not permitted", "unavailable",
)  # fmt: skip


def put_otherwise(body: Body, refusal: str) -> tuple[Body, str] | None:
    """The request in other words and the key that was changed; None where none is named."""
    text = refusal.lower()
    if not any(word in text for word in REFUSALS):
        return None
    for change in CHANGES:
        if change.key in body and change.key in text:
            return change.otherwise(body), change.key
    return None
