"""The engine's sources of time, chance and names: in a simulation the seed determines all three.

Stored times are PostgreSQL's own; an UPDATE ages due times (`time_passes`).
"""

import itertools
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from executions.database import ids as made_ids
from runners.conf import config
from runners.dispatch import estimates, execution_packs
from runners.pipeline import lease_renewal, load_segment, receive, record_result
from runners.process import identity
from runners.recovery.sweeper import executions
from runners.segment import packs
from tests.simulation.actors import Actor, me
from tests.support.single_thread import configured, drawn_estimates, drawn_limits

FIRST_MS = 1_767_225_600_000  # 2026-01-01
IDS_OF_A_SEED = 100_000  # ids of seeds do not overlap: caches by id stay correct
SEEDS = 2**20
LIMITS = "valkyr_plugins.limits.known_limits"


class Clock:
    """The time of a process's budgets; it passes when the simulation advances it."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        """Replaces `time.monotonic`."""
        return self.now

    def perf_counter(self) -> float:
        """Replaces `time.perf_counter`."""
        return self.now

    def thread_time(self) -> float:
        """Replaces `time.thread_time`."""
        return self.now


class Processes:
    """The operating system's list of processes: an actor's process restarts after it was killed."""

    def __init__(self, namespace: str, boot: str) -> None:
        self._here = namespace, boot
        self._known: dict[str, str] = {}
        self._pids: dict[str, str] = {}
        self._numbers = itertools.count(90_000_000)  # more than any real pid

    def holder(self, pid: int) -> str:
        """Replaces `identity._holder`: returns the holder of the calling thread's leases."""
        actor = me()
        return self._identity("main", 0) if actor is None else self.holder_of(actor)

    def holder_of(self, actor: Actor) -> str:
        """Return the name under which an actor has leases."""
        return self._identity(actor.name, actor.lives)

    def _identity(self, name: str, lives: int) -> str:
        life = f"{name}.{lives}"
        if life not in self._known:
            self._known[life] = str(next(self._numbers))
            self._pids[name] = self._known[life]
        # Its parent has ended: its exit code is unknown.
        return "|".join((name, self._known[life], "1", *self._here, "1", "0"))

    def started(self, pid: int) -> str:
        """Replaces `identity.started`."""
        return "1" if str(pid) in self._pids.values() else ""

    def killed(self, name: str) -> None:
        """Record that the process with that name has ended."""
        self._pids.pop(name, None)


@contextmanager
def drawn(seed: int, rng: Random) -> Iterator[tuple[Clock, Processes]]:
    """Let time, chance and ids follow only from the seed during this block."""
    clock = Clock()
    processes = Processes(identity._namespace(), identity._boot())
    ids = Random(seed)
    ms = itertools.count(FIRST_MS + (seed % SEEDS) * IDS_OF_A_SEED)
    of_ids = SimpleNamespace(time_ns=lambda: next(ms) * 10**6)

    instead: list[tuple[Any, str, Any]] = [
        (made_ids, "time", of_ids),
        (made_ids, "secrets", SimpleNamespace(randbits=ids.getrandbits)),
        (made_ids, "_newest", 0),
        (record_result, "random", Random(seed)),
        (receive, "draining", _leaves),
        (receive, "time", clock),
        (packs, "time", clock),
        (load_segment, "time", clock),
        (identity, "_holder", processes.holder),
        (identity, "started", processes.started),
        # Renewals and time-outs are simulated by the rows that `time_passes` ages.
        (lease_renewal.Heart, "_mind", lambda heart: None),
        (estimates, "estimate_duration", drawn_estimates(rng)),
        (estimates, "learn_durations", lambda workflow, steps: None),
        (estimates, "serving", lambda queue: 1),
        (execution_packs, "serving", lambda queue: 1),
        (executions.LookedThrough, "place", executions.START),
    ]
    if (known_limits := sys.modules.get(LIMITS)) is not None:  # plugins may be left out
        instead += [(known_limits, "time", clock), (known_limits, "_known", {})]
        instead += [(known_limits, "_until", {})]
    limits: dict[str, float] = {
        **drawn_limits(rng),
        "pack_seconds": 60.0,
        "pack_patience": 20.0,
        "pack_trial": 20.0,
        "stay_seconds": rng.choice([0, 20, 1_000_000]),
        "poison": 1_000,
    }
    assert config().lease >= 20, "a lease must outlast a seed"
    with ExitStack() as stack:
        for owner, name, value in instead:
            stack.enter_context(patch.object(owner, name, value))
        stack.enter_context(configured(**limits))
        yield clock, processes


def _leaves() -> bool:
    """Replaces `draining`: returns whether the calling thread's process was asked to end."""
    actor = me()
    return actor is not None and actor.leaves
