"""The steps of one place of an execution: its runs, and the iterations of loops and maps.

A page shows a limited number of iterations, with a fixed number of queries.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import CharField, Func, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import StrIndex, Substr
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext

from executions.admin import links
from executions.definition.graph.iterations import LoopTurns, MapTurns
from executions.definition.graph.model import Graph
from executions.definition.graph.places import Place, place_of, split, within
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners import statements
from runners.containers.child_executions import Child, children_of
from runners.models import Run
from runners.states import LIVE

# The progress of loops and maps: the counts of their iterations, also as text.


@dataclass(frozen=True, slots=True)
class IterationRow:
    """One iteration or item; `kind` is dead, failed, running, waiting, cancelled or done.

    `runs` counts all runs, `own` those outside nested bodies, and `done` the successful runs.
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
    """The shown iterations of a container, and the numbers of all, dead and failed iterations."""

    shown: Sequence[IterationRow] = ()
    total: int = 0
    dead: int = 0
    failed: int = 0


def turns_in(
    execution_id: UUID, place: str, minded: Sequence[str], most: int
) -> dict[str, IterationRows]:
    """Return at most `most` iterations of each container in a place, keyed by task. Uses one query.

    `minded` are the tasks in the bodies, written as `container.task`, whose failures an `error`
    edge handles.
    """
    found = statements.fetch(
        "iterations_for_page",
        {"execution": execution_id, "place": place, "minded": list(minded), "most": most},
    )
    shown: dict[str, list[IterationRow]] = defaultdict(list)
    counts: dict[str, tuple[int, int, int]] = {}
    for container, *turn, total, dead, failed in found:
        shown[container].append(IterationRow(*turn))
        counts[container] = total, dead, failed
    return {name: IterationRows(shown[name], *counts[name]) for name in counts}


def said(run: Run, turns: IterationRows | None, kind: str) -> str:
    """Return a loop's or map's progress, such as "97 of 100 items done, 2 in progress, 1 failed".

    `turns` is None if the iterations were not read. Returns "" if no progress is known.
    """
    told = run.progress or {}
    live = run.state in LIVE
    if "total" in told:
        return _items(MapTurns.read(told), turns or IterationRows(), live=live)
    if "index" in told:
        return _iteration(LoopTurns.read(told), live=live)
    # No counters: the container has not begun, had no items, was copied to a fork, or was reset.
    if turns is None or (live and not turns.total):
        return ""
    return _iterations(turns.total) if kind == "loop" else _count(turns.total)


def _items(map_: MapTurns, turns: IterationRows, *, live: bool) -> str:
    over = map_.next - len(map_.open) - len(map_.spare)
    if live:
        parts = [
            gettext("{value:,} of {total:,} items done").format(
                value=max(0, over - turns.failed), total=map_.total
            )
        ]
        under_way = max(0, len(map_.open) - turns.dead)
        parts += (
            [gettext("{under_way:,} in progress").format(under_way=under_way)] if under_way else []
        )
    elif over == map_.total:
        parts = [_count(map_.total)]
    else:
        parts = [gettext("{over:,} of {total:,} items").format(over=over, total=map_.total)]
    parts += [gettext("{failed:,} failed").format(failed=turns.failed)] if turns.failed else []
    parts += [gettext("{dead:,} dead").format(dead=turns.dead)] if turns.dead else []
    return ", ".join(parts)


def _iteration(loop: LoopTurns, *, live: bool) -> str:
    if not live:
        return _iterations(loop.index + 1)
    of = (
        gettext(" of {count:,}").format(count=loop.count)
        if loop.count is not None
        else gettext(" of at most {most:,}").format(most=loop.most)
    )
    return gettext("iteration {index:,}{value}").format(index=loop.index + 1, value=of)


def _count(number: int) -> str:
    if not number:
        return gettext("no items")
    return ngettext("{number:,} item", "{number:,} items", number).format(number=number)


def _iterations(number: int) -> str:
    if not number:
        return gettext("no iterations")
    return ngettext("{number:,} iteration", "{number:,} iterations", number).format(number=number)


RUNS = 200
TURNS = 50
# Maximum number of steps shown within iterations; a separate page shows the others.
INSIDE = 500
COLUMNS = (
    "id", "execution_id", "step_path", "module", "attempt", "budget_start", "state", "outcome",
    "leased_by", "queued_at", "started_at", "finished_at", "duration_ms", "error", "error_type",
    "retry_after", "due_at", "waits_for", "progress", "cached_from", "superseded",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class OpenTurn:
    """An iteration that the page shows; `runs` is empty if its runs do not fit on the page."""

    name: str
    place: str
    turn: IterationRow
    runs: Sequence["ShownStep"]


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A run with its wake-up data, child and, for a container's newest run, its iterations."""

    run: Run
    wake: Mapping[str, Any]
    child: Child | None = None
    kind: str = ""  # "loop" or "map"
    turns: IterationRows | None = None
    open: Sequence[OpenTurn] = ()


@dataclass(frozen=True, slots=True)
class Steps:
    """The shown runs of a place; `more` is true if the place has further runs."""

    place: str
    shown: Sequence[ShownStep]
    more: bool


def steps_of(execution: WorkflowExecution, prefix: str) -> Steps | None:
    """Return the steps of one place; None if no such place exists. Uses at most five queries."""
    try:
        place = place_of(compiled(execution.version_id).graph, prefix)
    except (KeyError, ValueError):
        return None
    if place.prefix != prefix:
        return None
    rows = _within(execution, prefix).filter(depth=0).order_by("queued_at", "id")[: RUNS + 1]
    found = list(rows)
    runs = found[:RUNS]
    turns = _turns(execution, place)
    inside = _inside(execution, prefix, _affordable(turns))
    children = children_of(execution.pk, [*runs, *(run for own in inside.values() for run in own)])
    newest = {run.step_path: run.pk for run in runs}
    shown = []
    for run in runs:
        task = run.step_path.removeprefix(prefix).partition(".")[0]
        line = _shown(run, place.graph, children)
        if line.kind and newest[run.step_path] == run.pk:
            own = turns.get(task, IterationRows())
            line = replace(line, turns=own, open=_opened(place, task, own, inside, children))
        shown.append(line)
    return Steps(prefix, shown, len(found) > RUNS)


def _shown(run: Run, graph: Graph, children: Mapping[UUID, Child]) -> ShownStep:
    """Return a run in the form that the page shows; `graph` is the graph of its place."""
    task = split(run.step_path)[1].partition(".")[0]
    index = graph.task_by_id.get(task)
    body = graph.tasks[index].body if index is not None else None
    return ShownStep(run, _wake(run), children.get(run.pk), body.kind if body is not None else "")


def _opened(
    place: Place,
    task: str,
    turns: IterationRows,
    inside: Mapping[str, Sequence[Run]],
    children: Mapping[UUID, Child],
) -> list[OpenTurn]:
    """Return a container's shown iterations, with the runs of those that fit on the page."""
    body = within(place, place.graph.task_by_id[task], 0).graph
    opened = []
    for turn in turns.shown:
        name = f"{task}[{turn.index}]"
        lines = [_shown(run, body, children) for run in inside.get(name, ())]
        opened.append(OpenTurn(f"{place.prefix}{name}", f"{place.prefix}{name}.", turn, lines))
    return opened


def _within(execution: WorkflowExecution, prefix: str) -> QuerySet[Any]:
    """Return the runs in and below a place, except superseded ones, with only the shown columns."""
    rest = Substr("step_path", len(prefix) + 1)
    return (
        Run.objects.filter(execution=execution, superseded=False, step_path__startswith=prefix)
        .only(*COLUMNS)
        .annotate(
            waited_seconds=KT("wake__waitedSeconds"),
            woken_by=KT("wake__by"),
            decision=KT("wake__decision"),
            decided_by=KT("wake__actor"),
            depth=StrIndex(rest, Value("[")),
        )
    )


def _wake(run: Any) -> dict[str, Any]:
    return {
        "waitedSeconds": run.waited_seconds,
        "by": run.woken_by,
        "decision": run.decision,
        "actor": run.decided_by,
    }


def _turns(execution: WorkflowExecution, place: Place) -> dict[str, IterationRows]:
    bodies = [task for task in place.graph.tasks if task.body is not None]
    if not bodies:
        return {}
    minded = [
        f"{task.id}.{inner.id}"
        for task in bodies
        if task.body is not None
        for inner in task.body.tasks
        if inner.handles_error
    ]
    return turns_in(execution.pk, place.prefix, minded, TURNS)


def _affordable(turns: Mapping[str, IterationRows]) -> list[str]:
    """Return the names of the iterations to open, such as `batch[17]`.

    An iteration is opened if its runs fit into the space that earlier open iterations leave.
    """
    left, names = INSIDE, []
    for container, own in turns.items():
        for turn in own.shown:
            if turn.own <= left:
                left -= turn.own
                names.append(f"{container}[{turn.index}]")
    return names


def _inside(
    execution: WorkflowExecution, prefix: str, names: Sequence[str]
) -> dict[str, list[Run]]:
    """Return the runs of the named iterations, keyed by name; omit runs in nested bodies."""
    if not names:
        return {}
    rest = Substr("step_path", len(prefix) + 1)
    rows = (
        _within(execution, prefix)
        .annotate(
            turn=_part(rest, "]", 1),
            deeper=_part(rest, "[", 3),
        )
        .filter(turn__in=[name.rstrip("]") for name in names], deeper="")
        .order_by("queued_at", "id")
    )
    found: dict[str, list[Run]] = defaultdict(list)
    for run in rows:
        found[f"{run.turn}]"].append(run)
    return found


def _part(text: Any, separator: str, number: int) -> Func:
    arguments = (text, Value(separator), Value(number))
    return Func(*arguments, function="split_part", output_field=CharField())


# Links to one iteration in an execution, such as the third iteration of a loop.


def place_link(execution_id: UUID, place: str, text: Any) -> SafeString:
    """Return a link to a place on the execution's page; the place "" is the whole workflow."""
    address = links.page("executions_workflowexecution", execution_id)
    asked = f"?{urlencode({'place': place})}" if place else ""
    return links.link(f"{address}{asked}#steps", text)


def runs_in(execution_id: UUID, prefix: str) -> str:
    """Return the URL of a list of the execution's runs whose paths begin with this prefix."""
    return links.listing("runners_run", q=f"{execution_id} {prefix}".strip())
