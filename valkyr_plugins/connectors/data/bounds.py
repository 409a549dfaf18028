"""How much data a step may take and give, and the base class of modules that only compute.

What comes in is bounded before a parser sees it.

Parsers in C neither hear a time-out nor ask how much memory is left.
"""

from typing import Any, ClassVar

from runners.public.modules import Module, StepError

# What a step's inputs or outputs may hold as JSON (executions.payloads.MAX_BYTES).
MAX_BYTES = 5 * 1024 * 1024
MAX_ROWS = 100_000


def checked_text(text: str, what: str) -> str:
    """The text, unless it is too long or holds what is no text; `what` names it in the StepError.

    A lone surrogate (half of a pair, as in U+D800) has no form in UTF-8.
    """
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise StepError(
            f"{what} holds a lone surrogate (U+{ord(text[error.start]):04X}) at character "
            f"{error.start:,}, which is no text: it was decoded wrongly where it comes from"
        ) from None
    if size > MAX_BYTES:
        raise StepError(f"{what} is {size:,} bytes long; at most {MAX_BYTES:,} are taken: split it")
    return text


def without_nul(text: str, what: str) -> str:
    """The text, unless it holds NUL (U+0000), the mark of binary data, which no row can keep."""
    place = text.find("\x00")
    if place >= 0:
        raise StepError(
            f"{what} holds a NUL character (U+0000) at character {place:,}: it is binary data or "
            "UTF-16, not text"
        )
    return text


def weight(value: Any, most: int = MAX_BYTES) -> int:
    """A lower bound of the bytes of a value's JSON; stops counting soon after `most`.

    A value that holds one list many times over counts it each time, as its JSON would.
    """
    total, waiting = 0, [value]
    while waiting and total <= most:
        item = waiting.pop()
        if isinstance(item, str):
            total += len(item) + 2
        elif isinstance(item, dict):
            total += 2 + sum(len(key) + 4 for key in item)
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            total += 2 + len(item)
            waiting.extend(item)
        else:
            total += 1
    return total


# What the modules have in common that only work out a value from values, and so run inline.


class PureModule(Module[Any]):
    """Reads and writes nothing: repeating it does no harm, and trying again no good."""

    category: ClassVar[str] = "data"
    inline: ClassVar[bool] = True
    computes: ClassVar[bool] = True
    retry: ClassVar[str] = "none"
    timeout_seconds: ClassVar[float] = 10.0
