"""A scheduler that gives the turn to one actor at a time, and knows which actor waits for whose
lock.

A statement that waits for a lock stays sent, as `pg_locks` shows. Its actor is ready again when
PostgreSQL has granted the lock, and continues when it is drawn. So everything follows from the
drawn numbers, not from speed.
"""

import sys
import time
import traceback
from collections.abc import Sequence
from queue import Empty, SimpleQueue
from typing import Any

import psycopg

from tests.simulation.actors import Actor

LOOK_SECONDS = 0.004  # a statement that takes longer may wait for a lock
STUCK_SECONDS = 120.0  # a busy machine may stand still for half a minute
WAITING = "SELECT pid FROM pg_locks WHERE NOT granted AND pid = ANY(%s)"
BLOCKERS = "SELECT pid, pg_blocking_pids(pid) FROM unnest(%s::int[]) AS pid"
ENDED = "SELECT count(*) FROM pg_stat_activity WHERE pid = %s"


class Stuck(Exception):
    """No actor reached its next statement; the message says where each thread is."""


class Scheduler:
    """The actors, and which of them are running."""

    def __init__(self, names: Sequence[str], monitor: psycopg.Connection[Any]) -> None:
        self.monitor = monitor
        self.reports: SimpleQueue[Actor] = SimpleQueue()
        self.actors = [Actor(name, self.reports) for name in names]

    def ready(self) -> list[Actor]:
        """Return the actors that are about to execute a statement."""
        return [actor for actor in self.actors if actor.at is not None]

    def blocked(self) -> list[Actor]:
        """Return the actors whose statement waits for a lock."""
        return [actor for actor in self.actors if actor.blocked and actor.at is None]

    def next_ones(self) -> list[Actor]:
        """Return the actors of which one may continue now.

        While one waits for a lock, only the holder may continue: which of two waiting actors gets
        it first would be PostgreSQL's choice, and not the seed's.
        """
        ready, waiting = self.ready(), [actor.session for actor in self.blocked()]
        if not waiting:
            return ready
        holders = {pid for _, pids in self._ask(BLOCKERS, waiting) for pid in pids}
        return [actor for actor in ready if actor.session in holders] or ready

    def run(self, actor: Actor) -> None:
        """Give the actor the turn; return when it, and the actors that it released, have
        stopped.
        """
        self.settle({actor})

    def end(self) -> None:
        """End all threads."""
        for actor in self.actors:
            if not actor.idle:
                actor.kill()
                self.reports.get(timeout=STUCK_SECONDS)
            actor.end()

    def settle(self, running: set[Actor]) -> None:
        """Wait until each of these actors, and of those blocked before, is at a statement, idle or
        blocked.
        """
        flying = running | set(self.blocked())
        until = time.monotonic() + STUCK_SECONDS
        looked = not self.blocked()  # whether no lock can have been released since
        while flying:
            try:
                # Those that wait for locks are checked once the actor that ran has stopped.
                at_once = not running & flying and not looked
                stopped = self.reports.get(timeout=0.0001 if at_once else LOOK_SECONDS)
            except Empty:
                if time.monotonic() > until:
                    raise Stuck(_where(self.actors)) from None
                if self._all_wait(flying):
                    return
                looked = True
                continue
            stopped.blocked = False
            flying.discard(stopped)
            self._gone(stopped)

    def _gone(self, actor: Actor) -> None:
        """Wait until the session of a killed process has ended, with its transaction."""
        session, actor.cut = actor.cut, 0
        until = time.monotonic() + STUCK_SECONDS
        while session and self._ask(ENDED, session) != [(0,)]:
            if time.monotonic() > until:
                raise Stuck(f"session {session} did not end")
            time.sleep(0.0005)

    def _all_wait(self, flying: set[Actor]) -> bool:
        """Return whether each of these actors waits for a lock that another actor must release."""
        sessions = {actor.session: actor for actor in flying}
        waiting = {pid for (pid,) in self._ask(WAITING, list(sessions))}
        if waiting != set(sessions):
            return False
        for actor in flying:
            actor.blocked = True
        if self._in_circle(sessions):
            time.sleep(0.02)  # PostgreSQL ends one of them
            return False
        return True

    def _in_circle(self, sessions: dict[int, Actor]) -> bool:
        if len(sessions) < 2:
            return False
        waits_for: dict[int, list[int]] = dict(self._ask(BLOCKERS, list(sessions)))

        def reaches(start: int, at: int, seen: set[int]) -> bool:
            for other in waits_for.get(at, ()):
                if other == start:
                    return True
                if other not in seen and reaches(start, other, seen | {other}):
                    return True
            return False

        return any(reaches(pid, pid, set()) for pid in sessions)

    def _ask(self, query: str, value: Any) -> list[tuple[Any, ...]]:
        return self.monitor.execute(query, [value]).fetchall()


def _where(actors: Sequence[Actor]) -> str:
    frames = sys._current_frames()
    lines = ["nobody came to the next statement"]
    for actor in actors:
        frame = frames.get(actor._thread.ident or 0)
        if frame is not None and not actor.idle:
            lines += [f"\n{actor.name} at {actor.at}:", *traceback.format_stack(frame)[-12:]]
    return "".join(lines)
