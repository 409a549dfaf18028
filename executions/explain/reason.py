"""A reason: a code for programs, a sentence for users, and the IDs and times that it refers to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

MAX_TEXT = 300


@dataclass(frozen=True, slots=True)
class Reason:
    """The explanation of the state of an execution or a step.

    `since` is the time when the state began, or None if unknown. `until` is the time of an
    automatic change, such as a retry or a timeout; None if none is due or known.
    """

    code: str
    message: str
    since: datetime | None = None
    until: datetime | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def at(time: datetime | None) -> str:
    """Return a time in UTC as text for a sentence; "an unknown time" for None."""
    return "an unknown time" if time is None else f"{time.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(time: datetime | None) -> str | None:
    """Return a time for the details, in the API's format; None for None."""
    return None if time is None else time.astimezone(UTC).isoformat().replace("+00:00", "Z")


def brief(text: str) -> str:
    """Return the beginning of a text on one line, at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"


def sentence(text: str) -> str:
    """Return the beginning of `text` as a sentence; add a full stop if punctuation is missing."""
    line = brief(text)
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def some(names: list[str], most: int = 5) -> str:
    """Return the first `most` names as text, and the number of the remaining names."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
