"""The kinds of jobs. Each app registers its own as it gets ready."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any
from uuid import UUID

Work = Callable[[UUID], Any]


@dataclass(frozen=True, slots=True)
class JobKind:
    """One kind: its name, the function that computes it, and how long that may take.

    `work` is `module:function`. It is imported in the worker alone. It takes the subject's id and
    returns what can be stored as JSON; a ValkyrError says why it cannot be computed.
    """

    name: str
    work: str
    seconds: float


_kinds: dict[str, JobKind] = {}


def register(kind: JobKind) -> None:
    """Add a kind."""
    _kinds[kind.name] = kind


def kind_named(name: str) -> JobKind:
    """Return a kind; raises KeyError for one that no app registers."""
    return _kinds[name]


@lru_cache(maxsize=64)
def work_of(kind: JobKind) -> Work:
    """Return the function that computes jobs of a kind."""
    module, _, function = kind.work.partition(":")
    work: Work = getattr(import_module(module), function)
    return work
