"""Forked children that repeat one task until they are killed at a random moment.

A fork has everything imported and compiled, so that starting and killing a child takes about 25 ms.
Forking requires a process without threads and connections: a separate program.
"""

import gc
import mmap
import os
import signal
import struct
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from django.db import connections

from executions.vendor_seams import django_connections

READY, READY_SECONDS = 2, 20.0
LOOK_SECONDS = 0.0005
FORM = "qq"  # how many were begun, and its current point


class Progress:
    """A child's progress, which its parent can read even after the child's end."""

    def __init__(self, points: Sequence[str]) -> None:
        self._memory = mmap.mmap(-1, struct.calcsize(FORM))
        self._points = points

    def at(self, point: str, *, begun: int = 0) -> None:
        """Report the child's state, and how many more acts it began."""
        count, _ = struct.unpack(FORM, self._memory)
        self._memory[:] = struct.pack(FORM, count + begun, self._points.index(point))

    @property
    def begun(self) -> int:
        """The number of acts that the child began."""
        return int(struct.unpack(FORM, self._memory)[0])

    @property
    def point(self) -> str:
        """The child's state."""
        return self._points[struct.unpack(FORM, self._memory)[1]]


Act = Callable[[Progress, Random], Any]


class Mortal:
    """A child that acts until it is killed, at a moment chosen beforehand."""

    def __init__(self, act: Act, points: Sequence[str], random: Random, life: float) -> None:
        self.progress = Progress(points)
        self._life = random.uniform(0, life)
        seed = random.random()
        gc.freeze()
        self.pid = os.fork()
        if self.pid == 0:
            _live(act, self.progress, Random(seed))

    def kill(self) -> str:
        """Let the child live for its time, counted from its second act, then kill it; return its
        state.

        The first act takes ten times as long: it opens connections and prepares statements.
        """
        until = time.monotonic() + READY_SECONDS
        while self.progress.begun < READY and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        time.sleep(self._life)
        point = self.progress.point
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        if os.WIFEXITED(status):
            raise AssertionError(f"a child ended by itself, with {os.WEXITSTATUS(status)}")
        return point


def _live(act: Act, progress: Progress, random: Random) -> None:
    """Repeat the act in the child; this function never returns."""
    try:
        for connection in connections.all(initialized_only=True):
            django_connections.forget(connection)
            connection.ensure_connection()
        while True:
            act(progress, random)
    finally:
        import traceback

        traceback.print_exc()
        os._exit(1)


def kill_many(
    acts: Sequence[tuple[str, Act]], points: Sequence[str], kills: int, random: Random, life: float
) -> tuple[Counter[str], Counter[str]]:
    """Kill this number of children, one of each act at a time; count the states in which they were
    killed and the acts they began.
    """
    met: Counter[str] = Counter()
    begun: Counter[str] = Counter()
    for _ in range(max(1, kills // len(acts))):
        children = [(name, Mortal(act, points, random, life)) for name, act in acts]
        random.shuffle(children)
        for name, child in children:
            met[f"{name}: {child.kill()}"] += 1
            begun[name] += child.progress.begun
    return met, begun
