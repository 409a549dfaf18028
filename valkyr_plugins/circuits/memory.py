"""A process's cache of circuits, so that steps of a working target need no query.

At most once a second, when a step asks, one query reads at most 5,000 circuits that are not *clean*
(closed, without failures), and another reads the rules. If the first query found all such circuits,
a target that is not among them, and that this process has found free, needs no query.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import Generic, TypeVar
from uuid import UUID

from runners.public.targets import DEFAULTS, TargetLimits, TargetRule, limits_for
from valkyr_plugins.circuits.breaker import Caller, Circuit, Entry, enter, free, guarded

# Count the recent successful calls of each target in this process, in memory only.
#
# When a failure is counted, it includes this number. So the circuit depends on the share of failed
# calls, and a working target causes no query.


K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Tally:
    """The numbers of answers in the current half of a window, and in the previous half."""

    began: float
    present: int = 0
    before: int = 0


class Tallies(Generic[K]):
    """Tallies, keyed by target, shared by threads. With more than `kept` targets, all are reset."""

    def __init__(self, clock: Callable[[], float], kept: int) -> None:
        """Store the limit `kept`, and `clock`, which returns monotonic seconds."""
        self._clock, self._kept = clock, kept
        self._tallies: dict[K, Tally] = {}
        self._lock = Lock()

    def count(self, key: K, window: float) -> None:
        """Count one more answer; drop the answers that are older than about `window` seconds."""
        now, half = self._clock(), window / 2
        with self._lock:
            tally = self._tallies.get(key)
            if tally is None:
                if len(self._tallies) >= self._kept:
                    self._tallies = {}
                tally = self._tallies[key] = Tally(now)
            elif now - tally.began >= half:
                tally.before = tally.present if now - tally.began < window else 0
                tally.began, tally.present = now, 0
            tally.present += 1

    def take(self, key: K, window: float) -> int:
        """Remove a target's tally; return how many answers it counted in about `window` seconds."""
        with self._lock:
            tally = self._tallies.pop(key, None)
        if tally is None or self._clock() - tally.began >= window:
            return 0
        return tally.present + tally.before

    def forget(self) -> None:
        """Drop all tallies."""
        with self._lock:
            self._tallies = {}


KEPT = 10_000
FRESH_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Key:
    """A target of one workspace; each workspace's failures are counted separately."""

    workspace_id: UUID
    target: str


@dataclass(frozen=True, slots=True)
class Picture:
    """The result of one read: the circuits that are not clean, and the rules.

    `whole` is true if the read found all such circuits.
    """

    at: datetime
    unclean: Mapping[Key, Circuit]
    rules: tuple[TargetRule, ...] = ()
    whole: bool = True


@dataclass(slots=True)
class Memory:
    """A process's memory of circuits, shared by its threads."""

    read: Callable[[], Picture]
    base: TargetLimits
    clock: Callable[[], float] = time.monotonic
    kept: int = KEPT
    _picture: Picture | None = None
    _read_at: float = 0.0
    _unclean: dict[Key, Circuit] = field(default_factory=dict)
    _proven: "OrderedDict[Key, None]" = field(default_factory=OrderedDict)
    _limits: dict[str, TargetLimits] = field(default_factory=dict)
    tallies: "Tallies[Key]" = field(init=False)
    _reading: Lock = field(default_factory=Lock)
    _own: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        """Use the same clock for counting answers."""
        self.tallies = Tallies(self.clock, self.kept)

    def refresh(self) -> None:
        """Read again if the data is older than a second; one thread reads for all."""
        if self._picture is not None and self.clock() - self._read_at < FRESH_SECONDS:
            return
        if not self._reading.acquire(blocking=self._picture is None):
            return
        try:
            if self._picture is None or self.clock() - self._read_at >= FRESH_SECONDS:
                self._take(self.read(), self.clock())
        finally:
            self._reading.release()

    def now(self) -> datetime:
        """Return the database's time, extrapolated from the last read."""
        assert self._picture is not None, "refresh first"
        return self._picture.at + timedelta(seconds=self.clock() - self._read_at)

    def entry(self, key: Key, caller: Caller) -> Entry | None:
        """Return FREE or HELD if the answer is known without a query; None otherwise."""
        circuit = self._unclean.get(key)
        if circuit is not None:
            entry = enter(circuit, caller, self.limits(key.target), self.now())[1]
            return entry if entry in (Entry.FREE, Entry.HELD) else None
        if self._picture is None or not self._picture.whole or key not in self._proven:
            return None
        self._use(key)
        return Entry.FREE

    def circuit(self, key: Key) -> Circuit:
        """Return the circuit as last known, or a clean one if it is not cached."""
        return self._unclean.get(key, Circuit())

    def guards(self, key: Key) -> bool:
        """Return whether the target's circuit is cached and guarded (see `breaker.guarded`)."""
        circuit = self._unclean.get(key)
        return circuit is not None and guarded(circuit, self.now())

    def limits(self, target: str) -> TargetLimits:
        """Return the limits of a target."""
        found = self._limits.get(target)
        if found is None:
            rules = () if self._picture is None else self._picture.rules
            found = limits_for(target, (*rules, *DEFAULTS), self.base)
            if len(self._limits) >= self.kept:
                self._limits = {}
            self._limits[target] = found
        return found

    def note(self, key: Key, circuit: Circuit, now: datetime) -> None:
        """Record a circuit that this process has just read or written."""
        if free(circuit, now):
            self._use(key)
        else:
            self._disprove(key)
        if free(circuit, now) and circuit.failures == 0:
            self._unclean.pop(key, None)
        else:
            self._unclean[key] = circuit

    def forget(self) -> None:
        """Forget all circuits, limits and tallies of this process."""
        self._picture = None
        self._unclean = {}
        self._proven = OrderedDict()
        self._limits = {}
        self.tallies.forget()

    def _take(self, picture: Picture, read_at: float) -> None:
        if self._picture is None or picture.rules != self._picture.rules:
            self._limits = {}
        self._picture, self._read_at = picture, read_at
        self._unclean = dict(picture.unclean)
        for key, circuit in picture.unclean.items():
            if not free(circuit, picture.at):
                self._disprove(key)

    def _use(self, key: Key) -> None:
        with self._own:
            self._proven[key] = None
            self._proven.move_to_end(key)
            if len(self._proven) > self.kept:
                self._proven.popitem(last=False)

    def _disprove(self, key: Key) -> None:
        with self._own:
            self._proven.pop(key, None)
