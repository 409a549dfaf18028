"""Limits on a step's data, and the base class of modules that only compute.

Input is limited before a parser reads it. Parsers in C neither respect a timeout nor check the
remaining memory.
"""

from typing import Any, ClassVar

from runners.public.modules import Module, StepError

# Maximum size of a step's inputs or outputs as JSON, in bytes (executions.payloads.MAX_BYTES).
MAX_BYTES = 5 * 1024 * 1024
MAX_ROWS = 100_000


def checked_text(text: str, what: str) -> str:
    """Return the text. Raises StepError if it exceeds 5 MiB or contains a lone surrogate.

    The error names `what`. UTF-8 cannot encode a lone surrogate: half of a pair, as in U+D800.
    """
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise StepError(
            f"{what} contains a lone surrogate (U+{ord(text[error.start]):04X}) at character "
            f"{error.start:,}, which is not text: its source decoded it wrongly"
        ) from None
    if size > MAX_BYTES:
        raise StepError(f"{what} has {size:,} bytes; at most {MAX_BYTES:,} are accepted: split it")
    return text


def without_nul(text: str, what: str) -> str:
    """Return the text. Raises StepError, which names `what`, if it contains NUL (U+0000)."""
    place = text.find("\x00")
    if place >= 0:
        raise StepError(
            f"{what} contains a NUL character (U+0000) at character {place:,}: it is binary "
            "data or UTF-16, not text"
        )
    return text


def weight(value: Any, most: int = MAX_BYTES) -> int:
    """Return a lower bound for the bytes of a value's compact JSON; stop soon after `most`.

    A list or object counts once per reference to it, because the JSON contains it each time.
    """
    total, waiting = 0, [value]
    while waiting and total <= most:
        item = waiting.pop()
        if isinstance(item, str):
            total += len(item) + 2
        elif isinstance(item, dict):
            total += 2 + sum(len(key) + 4 for key in item) - bool(item)
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            total += 2 + len(item) - bool(item)
            waiting.extend(item)
        else:
            total += 1
    return total


# The base class of modules that only compute a value and therefore run inline.


class PureModule(Module[Any]):
    """A module without side effects: retries are safe, but useless."""

    category: ClassVar[str] = "data"
    inline: ClassVar[bool] = True
    computes: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0
