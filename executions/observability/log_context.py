"""Whose line this is: the ids that every log line of a request, a trigger or a step carries.

They are put together only when a line is written, since most steps write none. Threads that a
module starts by itself have no ids.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import MappingProxyType

NOBODY: Mapping[str, object] = MappingProxyType({})
# What else says whose line it is, such as the present span; asked for each line that is written.
MORE_IDS: list[Callable[[], Mapping[str, object]]] = []
_ids: ContextVar[Mapping[str, object]] = ContextVar("valkyr_log_ids", default=NOBODY)
# What the hot path is at: asked for its ids only if there is a line.
_at: ContextVar[Callable[[], Mapping[str, object]] | None] = ContextVar("valkyr_at", default=None)


def ids() -> Mapping[str, object]:
    """The ids of whatever is being done here now, by field."""
    at = _at.get()
    found = _ids.get() if at is None else {**at(), **_ids.get()}
    for more in MORE_IDS:
        found = {**found, **more()}
    return found


def at(them: Callable[[], Mapping[str, object]] | None) -> None:
    """From here on lines carry these ids as well, until somebody says otherwise or `reset`."""
    _at.set(them)


@contextmanager
def bound(**more: object) -> Iterator[None]:
    """The block whose lines carry these ids as well."""
    token = _ids.set({**_ids.get(), **more})
    try:
        yield
    finally:
        _ids.reset(token)


def set_all(them: Mapping[str, object]) -> Token[Mapping[str, object]]:
    """Replace all ids, until `reset`: for whoever is told of a beginning and of an end."""
    return _ids.set(them)


def reset(token: Token[Mapping[str, object]]) -> None:
    """Bring back the ids that were replaced; nothing is being done here any more."""
    _ids.reset(token)
    _at.set(None)
