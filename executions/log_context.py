"""Whose line this is: the ids that every log line of a request, a trigger or a step carries.

They are kept as they are given and become text only when a line is written, since most steps write
none. Threads that a module starts by itself have no ids.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import MappingProxyType

NOBODY: Mapping[str, object] = MappingProxyType({})
_ids: ContextVar[Mapping[str, object]] = ContextVar("valkyr_log_ids", default=NOBODY)


def ids() -> Mapping[str, object]:
    """The ids of whatever is being done here now, by field."""
    return _ids.get()


def add(**more: object) -> None:
    """Add ids until the innermost `bound` block ends."""
    _ids.set({**_ids.get(), **more})


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
    """Bring back the ids that were replaced."""
    _ids.reset(token)
