"""Tests side by side, and one that is timed by itself: a room for many, or for one alone."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def in_the_room(folder: Path, *, alone: bool) -> Iterator[None]:
    """Be in the room with others of all processes, or alone; waits for those who are in the way.

    Who waits stands in the door, so that nobody who comes later goes first.
    """
    with (folder / "door").open("a") as door, (folder / "room").open("a") as room:
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        yield
