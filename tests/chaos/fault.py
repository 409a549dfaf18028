"""A fault: its promise, its bound, its injection and its requirements."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.chaos.world import World


@dataclass(frozen=True, slots=True)
class Load:
    """The executions that are started while a fault is injected."""

    rate: float = 3.0  # a second; 0: none
    api: bool = False  # over HTTP rather than by a call
    most: int = 60  # unfinished at once; more start only after some have ended


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the fault table in docs/explanation/reliability.md."""

    slug: str  # its name on the command line
    title: str  # what is done
    promise: str  # what holds all the same
    bound: float | None  # the maximum seconds of a recovery; None: the promise is not about time
    run: "Callable[[World], None]"
    needs: tuple[str, ...] = ()  # names of tests/chaos/needs.py
    load: Load = Load()
