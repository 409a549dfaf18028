"""Check the bounds of containers: iterations in sequence, concurrent items within limits,
nothing late.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from runners.models import Run
from tests.support.interpreter import LOOPS


@dataclass
class Turn:
    """One place of a container: when its first step began and its last run ended.

    `began` and `ended` cover steps that were claimed one by one. Pure steps, which are recorded
    together after they ran in memory, do not show what ran in parallel.
    """

    place: str
    index: int
    started: datetime | None = None
    finished: datetime | None = None
    began: datetime | None = None
    ended: datetime | None = None

    def take_in(self, run: Run, marks: list[datetime]) -> None:
        """Extend the turn by a run in this place, at any depth."""
        if run.state == "SKIPPED":
            return
        times = [*marks, run.started_at] if run.started_at else marks
        if times:
            self.started = min([*times, *_known(self.started)])
        if run.finished_at:
            self.finished = max([run.finished_at, *_known(self.finished)])
        if run.module.startswith("test.") and times and run.finished_at:
            self.began = min([*times, *_known(self.began)])
            self.ended = max([run.finished_at, *_known(self.ended)])


def turns(
    container: str, runs: Mapping[str, list[Run]], marked: Mapping[str, list[datetime]]
) -> list[Turn]:
    """Return the places of a container that were entered, in order."""
    found: dict[int, Turn] = {}
    start = f"{container}["
    for path, of_path in runs.items():
        if not path.startswith(start):
            continue
        index, _, _ = path.removeprefix(start).partition("].")
        turn = found.setdefault(int(index), Turn(f"{start}{index}].", int(index)))
        for run in of_path:
            turn.take_in(run, list(marked.get(path, [])))
    return [found[index] for index in sorted(found)]


def problems(
    use: str, config: Mapping[str, Any], entered: list[Turn], closed: datetime | None
) -> Iterator[str]:
    """Yield what a container that ended at `closed` did wrong in its places."""
    for turn in entered:
        if closed and max([*_known(turn.started), *_known(turn.finished)], default=closed) > closed:
            yield f"which ended at {closed}, and {turn.place} went on"
    if use in LOOPS:
        for one, two in pairwise(entered):
            if two.index != one.index + 1:
                yield f"which went from {one.place} to {two.place}"
            if one.finished and two.started and two.started < one.finished:
                yield f"which began {two.place} before {one.place} had ended"
    else:
        most = overlap(entered)
        allowed = config.get("maxConcurrency", 100)
        if most > allowed:
            yield f"of which {most} places were open at once; at most {allowed} may be"


def overlap(entered: list[Turn]) -> int:
    """Return the maximum number of places whose effects ran at the same time."""
    events = [(turn.began, 1) for turn in entered if turn.began]
    events += [(turn.ended, -1) for turn in entered if turn.ended]
    now = most = 0
    # An end counts before a beginning at the same time.
    for _, change in sorted(events):
        now += change
        most = max(most, now)
    return most


def _known(time: datetime | None) -> list[datetime]:
    return [] if time is None else [time]
