"""The IDs that every log line of a request, a trigger or a step contains.

A step's IDs are computed only when a line is written, because most steps write none. Threads that a
module starts have no IDs.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import MappingProxyType

NOBODY: Mapping[str, object] = MappingProxyType({})
# Functions that return further IDs, such as the current span; called for each written line.
MORE_IDS: list[Callable[[], Mapping[str, object]]] = []
_ids: ContextVar[Mapping[str, object]] = ContextVar("valkyr_log_ids", default=NOBODY)
# Returns the IDs of the step that is being executed; called only if a line is written.
_at: ContextVar[Callable[[], Mapping[str, object]] | None] = ContextVar("valkyr_at", default=None)


def ids() -> Mapping[str, object]:
    """Return the IDs of the current work, by field."""
    at = _at.get()
    found = _ids.get() if at is None else {**at(), **_ids.get()}
    for more in MORE_IDS:
        found = {**found, **more()}
    return found


def at(them: Callable[[], Mapping[str, object]] | None) -> None:
    """Add to log lines the IDs that `them` returns, until the next call or `reset`."""
    _at.set(them)


@contextmanager
def bound(**more: object) -> Iterator[None]:
    """Add these IDs to the lines that are logged in the block."""
    token = _ids.set({**_ids.get(), **more})
    try:
        yield
    finally:
        _ids.reset(token)


def set_all(them: Mapping[str, object]) -> Token[Mapping[str, object]]:
    """Replace the bound IDs until `reset`, for callers that handle start and end separately."""
    return _ids.set(them)


def reset(token: Token[Mapping[str, object]]) -> None:
    """Restore the IDs that `set_all` replaced, and remove those of `at`, when the work ends."""
    _ids.reset(token)
    _at.set(None)
