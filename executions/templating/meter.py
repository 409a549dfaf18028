"""What one rendering may cost: operations counted, and the time by which it has to end.

An operation that grows with a value is charged before it is done, in units of about a microsecond.
The count depends on templates and values alone, so a rendering that is refused is refused always.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache

from executions.templating.errors import TemplateError

# Units. The web process renders keys and filters only, in a tenth of a second of one thread.
STEP = 3_000_000
WEB = 50_000
# Bytes that operations may build, whether they are freed again or not.
STEP_BYTES = 192 * 1024 * 1024
WEB_BYTES = 48 * 1024 * 1024
# Units between two looks at the clock.
LOOK = 10_000


class TooMuchWork(TemplateError):
    """The rendering would take more operations than it may."""


class RenderingTimeout(TemplateError):
    """The rendering was not done at its deadline."""


class Meter:
    """The units and bytes that are left of one rendering; `deadline` is of `time.monotonic()`."""

    __slots__ = ("_bytes", "_deadline", "_left", "_look_at", "_most")

    def __init__(self, units: int, size: int, deadline: float | None = None) -> None:
        """Begin with `units` and `size` bytes."""
        self._most = self._left = units
        self._bytes = size
        self._deadline = deadline
        self._look_at = units

    def charge(self, units: int) -> None:
        """Take units; raises TooMuchWork when they are not left, RenderingTimeout when it is late.

        After either, the next charge raises again: no part of the rendering goes on.
        """
        self._left -= units
        if self._left < 0:
            raise TooMuchWork(
                f"the rendering takes more than {self._most:,} operations; make lists shorter, or "
                "compute the value in a step of its own"
            )
        if self._left < self._look_at and self._deadline is not None:
            self._look_at = self._left - LOOK
            if time.monotonic() > self._deadline:
                raise RenderingTimeout("the rendering was not done when the step's time was over")

    def build(self, size: int) -> None:
        """Take bytes; raises TooMuchWork when they are not left."""
        self._bytes -= size
        if self._bytes < 0:
            raise TooMuchWork(
                "the rendering builds too many texts and lists; compute the value in a step of its "
                "own"
            )


_current: ContextVar[Meter | None] = ContextVar("rendering", default=None)


def charge(units: int) -> None:
    """Charge the rendering that is under way in this thread, if one is."""
    meter = _current.get()
    if meter is not None:
        meter.charge(units)


def build(size: int) -> None:
    """Charge bytes that are built to the rendering that is under way in this thread, if one is."""
    meter = _current.get()
    if meter is not None:
        meter.build(size)


@contextmanager
def metered(seconds: float | None = None) -> Iterator[None]:
    """Count what is rendered in this block, against one budget; within another block, that one's.

    `seconds` is the time that the whole block may take.
    """
    token = begin(seconds)
    try:
        yield
    finally:
        end(token)


def begin(seconds: float | None = None) -> Token[Meter | None] | None:
    """Begin a metered block, as `metered` does; None within another one. For the hot path."""
    if _current.get() is not None:
        return None
    units, size = _limits()
    return _current.set(Meter(units, size, None if seconds is None else time.monotonic() + seconds))


def end(token: Token[Meter | None] | None) -> None:
    """End the block that gave this token."""
    if token is not None:
        _current.reset(token)


@lru_cache(maxsize=1)
def _limits() -> tuple[int, int]:
    in_web = os.environ.get("VALKYR_PROCESS", "").startswith("web")
    return (WEB, WEB_BYTES) if in_web else (STEP, STEP_BYTES)
