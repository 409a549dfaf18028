"""How far loops and maps are: their turns counted, and said in words."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from executions.definition.graph.turns import LoopTurns, MapTurns
from runners import statements
from runners.models import Run
from runners.states import LIVE


@dataclass(frozen=True, slots=True)
class IterationRow:
    """One iteration or item; `kind` is dead, failed, running, waiting, cancelled or done.

    `runs` counts those in it, `own` those that stand in no body inside it, `done` those that
    succeeded.
    """

    index: int
    kind: str
    runs: int
    own: int
    done: int
    began: datetime
    ended: datetime | None


@dataclass(frozen=True, slots=True)
class IterationRows:
    """The first turns of a container, and how many there are in all."""

    shown: Sequence[IterationRow] = ()
    total: int = 0
    dead: int = 0
    failed: int = 0


def turns_in(
    execution_id: UUID, place: str, minded: Sequence[str], most: int
) -> dict[str, IterationRows]:
    """At most `most` turns of each container in a place, by its task: one query.

    `minded` are the tasks in these bodies that have an `error` edge, as `container.task`.
    """
    found = statements.fetch(
        "turns_shown",
        {"execution": execution_id, "place": place, "minded": list(minded), "most": most},
    )
    shown: dict[str, list[IterationRow]] = defaultdict(list)
    counts: dict[str, tuple[int, int, int]] = {}
    for container, *turn, total, dead, failed in found:
        shown[container].append(IterationRow(*turn))
        counts[container] = total, dead, failed
    return {name: IterationRows(shown[name], *counts[name]) for name in counts}


def said(run: Run, turns: IterationRows | None, kind: str) -> str:
    """How far a run of a "loop" or "map" is: "97 of 100 items done, 2 under way, 1 failed".

    `turns` is None where nobody looked at them.
    """
    told = run.progress or {}
    live = run.state in LIVE
    if "total" in told:
        return _items(MapTurns.read(told), turns or IterationRows(), live=live)
    if "index" in told:
        return _iteration(LoopTurns.read(told), live=live)
    # No counters: it has not begun, had nothing to do, was taken over by a fork or set back.
    if turns is None or (live and not turns.total):
        return ""
    return _count(turns.total, "iteration" if kind == "loop" else "item")


def _items(map_: MapTurns, turns: IterationRows, *, live: bool) -> str:
    over = map_.next - len(map_.open) - len(map_.spare)
    if live:
        parts = [f"{max(0, over - turns.failed):,} of {map_.total:,} items done"]
        under_way = max(0, len(map_.open) - turns.dead)
        parts += [f"{under_way:,} under way"] if under_way else []
    elif over == map_.total:
        parts = [_count(map_.total, "item")]
    else:
        parts = [f"{over:,} of {map_.total:,} items"]
    parts += [f"{turns.failed:,} failed"] if turns.failed else []
    parts += [f"{turns.dead:,} dead"] if turns.dead else []
    return ", ".join(parts)


def _iteration(loop: LoopTurns, *, live: bool) -> str:
    if not live:
        return _count(loop.index + 1, "iteration")
    of = f" of {loop.count:,}" if loop.count is not None else f", at most {loop.most:,}"
    return f"iteration {loop.index + 1:,}{of}"


def _count(number: int, noun: str) -> str:
    return f"{f'{number:,}' if number else 'no'} {noun}{'' if number == 1 else 's'}"
