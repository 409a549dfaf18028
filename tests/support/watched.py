"""The watchdog's memory of this process: what a test's threads report about their work."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from runners.process import activity
from runners.process.activity_slots import (
    Note,
    SlotHead,
    StallSlot,
    create,
    heads,
    note_of,
    start_of,
)


@dataclass(frozen=True)
class Watched:
    """The shared memory, as the watchdog reads it."""

    descriptor: int

    def head(self) -> SlotHead:
        """Return this process's slot."""
        return next(head for head in heads(self.descriptor) if head.pid == os.getpid())

    def note(self) -> Note | None:
        """Return the run that the calling thread prepares or executes; None if it holds none."""
        return note_of(self.descriptor, self.head().place, threading.get_native_id())


@contextmanager
def watched(monkeypatch: Any) -> Iterator[Watched]:
    """Report this process's work to a watchdog's memory during the block, as a worker does."""
    descriptor = create()
    slot = StallSlot(descriptor, start_of(os.getpid()))
    with monkeypatch.context() as patched:
        patched.setattr(activity, "_place", slot)
        patched.setattr(activity, "_own", activity._Own())  # the threads of a fork are others
        try:
            yield Watched(descriptor)
        finally:
            slot.leave()
            os.close(descriptor)
