"""Containers: a loop or a map opens turns of its body, and goes on when they are done.

The container's own run waits meanwhile and keeps the counters. Whoever ends a turn starts the next
ones, or wakes the container, in the same transaction and under the execution's lock.
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from executions import payloads
from executions.errors import PayloadError
from executions.graph.places import Place, split, within
from executions.graph.readiness import SKIPPED
from executions.graph.turns import LoopTurns, MapTurns, batch, lanes
from executions.templates import TemplateError
from runners import dispatch, rows, scopes, statements
from runners.conf import config
from runners.journey import Journey, Segment
from runners.modules.base import Result, StepError, Wait
from runners.modules.containers import MAX_COUNT, MAX_ITEMS
from runners.modules.flow import truth
from runners.outcomes import classify
from runners.states import WaitKind
from runners.work import Done, Unit, Work

DEFAULT_WIDE = 100
DEFAULT_MOST = 1_000
COLLECTED = 5_000  # results read in one query

Turns = LoopTurns | MapTurns


def perform(journey: Journey, work: Work) -> Unit:
    """Open a container whose run was claimed, or collect what its body came to once it is woken."""
    began = time.perf_counter()
    assert work.prepared is not None
    try:
        made = _opened(journey, work) if work.wake is None else _collected(journey, work)
        if isinstance(made, Wait):
            return Unit(None, wait=made)
        outputs = payloads.dump(made.outputs, f"output of step {work.path}")
    except (StepError, TemplateError, PayloadError) as error:
        failure = classify(error)
        return Unit(None, failure=replace(failure, message=f"{work.path}: {failure.message}"))
    milliseconds = 1000 * (time.perf_counter() - began)
    journey.ended(work.step, "success", made.outputs)
    done = Done(work.step, journey.place, work.prepared, made, outputs, milliseconds)
    return Unit(done)


def _opened(journey: Journey, work: Work) -> Result | Wait:
    assert work.prepared is not None
    given = work.prepared.value
    if work.step.container == "map":
        turns: Turns | None = _map(journey, work, given)
        if turns is None:
            return Result([])
    else:
        turns = _loop(journey, work, given)
        if turns is None:
            return Result({"iterations": 0, "last": None})
    return Wait(WaitKind.BODY, facts=turns.document())


def _map(journey: Journey, work: Work, given: dict[str, Any]) -> MapTurns | None:
    items = given.get("items")
    if not isinstance(items, list):
        raise StepError(
            f"`items` must be a list; found {_kind(items)}. Give a template that yields a list."
        )
    if not items:
        return None
    if len(items) > MAX_ITEMS:
        raise StepError(
            f"The map has {len(items):,} items; at most {MAX_ITEMS:,} are allowed. Map over pages "
            "of them, or start an execution for each part (flow.subworkflow)."
        )
    body = inside(journey.place, work.step.task).graph
    wide = lanes(int(given.get("maxConcurrency") or DEFAULT_WIDE), pure=body.pure)
    turns, _ = MapTurns(len(items), wide).handed_out(wide)
    return turns


def _loop(journey: Journey, work: Work, given: dict[str, Any]) -> LoopTurns | None:
    if "while" in work.step.deferred or "until" in work.step.deferred:
        most = int(given.get("maxIterations") or DEFAULT_MOST)
        if "while" in work.step.deferred:
            first = inside(journey.place, work.step.task)
            if not holds(journey, first, "while", ended=False):
                return None
        return LoopTurns(0, None, most)
    count = given.get("count")
    if isinstance(count, str) and count.strip().isdecimal():
        count = int(count)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise StepError(
            f"`count` must be a whole number from 0 up; found {_kind(count)}. "
            "Give a number or a template that yields one."
        )
    if count > MAX_COUNT:
        raise StepError(f"`count` is {count:,}; at most {MAX_COUNT:,} iterations are allowed.")
    return LoopTurns(0, count) if count else None


def open_turns(journey: Journey, work: Work, document: dict[str, Any]) -> None:
    """Start the first turns of a container that just went to sleep; holds the execution's lock."""
    place = inside(journey.place, work.step.task)
    if work.attempt > 1:
        statements.fetch(
            "supersede",
            {"execution": journey.execution_id, "prefix": place.stem},
        )
    turns = _read(place, document)
    start(journey, place, turns.places)


def start(
    journey: Journey, place: Place, indexes: Sequence[int], batch: Sequence[int] = ()
) -> None:
    """Insert the first runs of some turns and send them, one of them to this worker itself.

    `batch` are further items of a pure map that the worker takes along.
    """
    parts: list[str] = []
    parcels: list[dispatch.Parcel] = []
    for index in indexes:
        turn = place.turn(index)
        ready = [turn.graph.tasks[task].steps[0] for task in turn.graph.roots]
        parts += [rows.pending(turn.graph.steps[step], turn.prefix) for step in ready]
        kept = _keep(journey, turn, ready, batch)
        left = [step for step in ready if step != kept]
        if left:
            parcels.append(
                dispatch.parcel(
                    journey.execution_id, journey.version.id, journey.priority, turn, left
                )
            )
    insert(journey, parts)
    dispatch.publish_after_commit(parcels)


def _keep(journey: Journey, turn: Place, ready: list[int], batch: Sequence[int]) -> int | None:
    """The step this worker goes on with by itself, if it may and has none yet."""
    if not journey.stays or journey.onward is not None or journey.paused:
        return None
    for index in ready:
        step = turn.graph.steps[index]
        if step.queue == journey.queue:
            path = turn.prefix + step.path
            name = f"{turn.graph.name}: {path}"
            journey.onward = Segment(path, step.queue, name, tuple(batch))
            return index
    return None


def insert(journey: Journey, parts: list[str]) -> int:
    """Insert rows made by `rows` into the journey's execution; returns how many were new."""
    if parts:
        owner = (
            f'"execution":"{journey.execution_id}","epoch":{journey.epoch},'
            f'"priority":{journey.priority},'
        )
        text = ",".join("{" + owner + part[1:] for part in parts)
        rows_text = {"rows": f"[{text}]", "patience": config().patience}
        return len(statements.fetch("insert", rows_text))
    return 0


def turn_over(
    journey: Journey,
    place: Place,
    *,
    ended: Sequence[int],
    failed: Sequence[int] = (),
    unstarted: Sequence[int] = (),
) -> bool:
    """Take turns that ended off their container, and start the next or wake it.

    `place` is any of its turns; `failed` are those of the ended ones in which a failure was not
    minded by an edge; `unstarted` were handed out and have no rows. The caller holds the
    execution's lock. Returns whether anything was started or woken.
    """
    row = statements.fetch_one(
        "container",
        {"execution": journey.execution_id, "epoch": journey.epoch, "path": place.holder},
    )
    if row is None:
        return False
    run_id, document, queue = row
    if place.graph.kind == "loop":
        loop = LoopTurns.read(document)
        return _next_iteration(journey, place, run_id, queue, loop, ended, failed)
    turns = MapTurns.read(document).closed(ended).given_back(unstarted)
    if failed and not place.task.tolerant:
        turns = replace(turns, failed=min(failed) if turns.failed is None else turns.failed)
    return _next_items(journey, place, run_id, queue, turns)


def _next_items(journey: Journey, place: Place, run_id: UUID, queue: str, turns: MapTurns) -> bool:
    if turns.over:
        wake: dict[str, Any] = {"by": "body", "total": turns.total}
        if turns.failed is not None:
            wake["failed"] = turns.failed
        return _wake(journey, place, run_id, queue, turns, wake)
    dead = _dead_within(journey, place)
    rest: tuple[int, ...] = ()
    if _carries(journey, place):
        turns, given, rest = _batched(journey, turns, dead=dead)
    else:
        turns, given = turns.handed_out(0 if dead else turns.free)
    _keep_progress(run_id, turns)
    start(journey, place, given, rest)
    return bool(given)


def _carries(journey: Journey, place: Place) -> bool:
    """Whether this worker goes through a pure map's items, a batch at a time."""
    outer = journey.place.outer
    return (
        place.graph.pure
        and not journey.resumed
        and outer is not None
        and journey.place.holder == place.holder
    )


def _batched(
    journey: Journey, turns: MapTurns, *, dead: bool
) -> tuple[MapTurns, tuple[int, ...], tuple[int, ...]]:
    """The item to go on with, and those to take along: the rest of a batch, or a new one."""
    left, journey.batch = tuple(journey.batch), []
    alone = not journey.stays or journey.paused
    if left and not alone:
        return turns, left[:1], left[1:]
    turns = turns.given_back(left)
    if dead:
        return turns, (), ()
    turns, given = turns.handed_out(1)
    if alone or not given:
        return turns, given, ()
    turns, rest = turns.handed_out(batch(turns) - 1)
    return turns, given, rest


def _next_iteration(
    journey: Journey,
    place: Place,
    run_id: UUID,
    queue: str,
    turns: LoopTurns,
    ended: Sequence[int],
    failed: Sequence[int],
) -> bool:
    if turns.index not in ended:
        return False
    journey.passed.turn = True
    done = turns.index + 1
    wake: dict[str, Any] = {"by": "body", "iterations": done}
    if failed:
        return _wake(journey, place, run_id, queue, turns, wake | {"failed": turns.index})
    try:
        more = _goes_on(journey, place.turn(turns.index), turns)
    except TemplateError as error:
        return _wake(journey, place, run_id, queue, turns, wake | {"error": str(error)})
    if not more:
        return _wake(journey, place, run_id, queue, turns, wake)
    if turns.count is None and done >= turns.most:
        return _wake(journey, place, run_id, queue, turns, wake | {"limit": turns.most})
    following = replace(turns, index=done)
    _keep_progress(run_id, following)
    start(journey, place, following.places)
    return True


def _goes_on(journey: Journey, turn: Place, turns: LoopTurns) -> bool:
    if turns.count is not None:
        return turns.index + 1 < turns.count
    deferred = turn.outer.graph.steps[turn.task.steps[0]].deferred if turn.outer else {}
    if "until" in deferred and holds(journey, turn, "until", ended=True):
        return False
    return "while" not in deferred or holds(journey, turn, "while", ended=True)


def holds(journey: Journey, turn: Place, key: str, *, ended: bool) -> bool:
    """Whether a loop's condition holds, seen from a turn that ended, or before the first one."""
    assert turn.outer is not None
    template = turn.outer.graph.steps[turn.task.steps[0]].deferred[key]
    row = statements.fetch_one("current", {"execution": journey.execution_id})
    assert row is not None
    variables, payload, started_at = row
    seen = Journey(
        execution_id=journey.execution_id,
        version=journey.version,
        place=turn,
        segment="",
        queue="",
        epoch=journey.epoch,
        priority=journey.priority,
        started_at=started_at,
        input=payload,
        variables=variables,
    )
    paths = [
        path
        for levels, task in turn.task.watches
        if levels or ended
        for path in scopes.task_paths(turn.up(levels), task)
    ]
    if paths:
        seen.learn(statements.fetch("results", {"execution": journey.execution_id, "reads": paths}))
    blank = {"output": None, "outcome": "", "error": None, "history": []}
    tasks = {task.id: blank for task in turn.graph.tasks} | seen.outer | seen.results
    scope = {
        "input": payload,
        "vars": variables,
        "tasks": tasks,
        "execution": seen.described(1),
        **scopes.turn(seen),
    }
    names = {reference[0] for reference in template.references}
    if "item" in names and (of_map := turn.nearest("map")) is not None:
        scopes.load_items(seen, [of_map.index])
        scope |= scopes.turn(seen)
    if "loop" in names and ended:
        # `until` is of the iteration that ended, `while` of the one that would come.
        seen.place = turn.turn(turn.index + (key == "while"))
        scopes.load_last(seen)
        scope |= scopes.turn(seen)
    return truth(template.render(scope))


def failed_in(place: Place, outcomes: dict[int, str]) -> bool:
    """Whether a turn ended with a failure that no edge of its own minds."""
    return any(
        outcome == "error" and not place.graph.tasks[task].handles_error
        for task, outcome in outcomes.items()
        if outcome != SKIPPED
    )


def give_back_batch(journey: Journey) -> None:
    """Put the items this worker took along and has not started aside, for whoever ends a turn.

    They are not handed out here: what comes of the present item decides whether any follows. Call
    inside a transaction that holds the execution's lock.
    """
    unstarted, journey.batch = journey.batch, []
    row = statements.fetch_one(
        "container",
        {
            "execution": journey.execution_id,
            "epoch": journey.epoch,
            "path": journey.place.holder,
        },
    )
    if row is not None:
        _keep_progress(row[0], MapTurns.read(row[1]).given_back(unstarted))


def _dead_within(journey: Journey, place: Place) -> bool:
    row = statements.fetch_one(
        "dead_within",
        {
            "execution": journey.execution_id,
            "epoch": journey.epoch,
            "prefix": place.stem,
        },
    )
    return bool(row and row[0])


def _keep_progress(run_id: UUID, turns: Turns) -> None:
    document = payloads.dump(turns.document(), "counters of a container")
    statements.fetch("progress", {"run": run_id, "progress": document})


def _wake(
    journey: Journey, place: Place, run_id: UUID, queue: str, turns: Turns, wake: dict[str, Any]
) -> bool:
    row = statements.fetch_one(
        "wake_container",
        {
            "run": run_id,
            "progress": payloads.dump(turns.document(), "counters of a container"),
            "wake": payloads.dump(wake, "end of a container's body"),
            "patience": config().patience,
        },
    )
    if row is None:
        return False
    segment, _, path = row
    name = f"{place.graph.name}: {path}"
    if journey.stays and journey.onward is None and not journey.paused and queue == journey.queue:
        journey.onward = Segment(segment, queue, name)
    else:
        dispatch.publish_segment_after_commit(
            journey.execution_id, journey.version.id, journey.priority, segment, queue, name
        )
    return True


def _collected(journey: Journey, work: Work) -> Result:
    wake = work.wake
    place = inside(journey.place, work.step.task)
    if "error" in wake:
        raise StepError(f"The condition of the loop could not be rendered: {wake['error']}")
    if "limit" in wake:
        raise StepError(
            f"The loop ran {wake['limit']:,} times, its maxIterations, and its condition still "
            "says to go on. Mend the condition, or raise maxIterations (at most "
            "LOOP_LIMIT_CONDITION)."
        )
    if "failed" in wake:
        raise _first_failure(journey, place, wake["failed"])
    if place.graph.kind == "loop":
        last = scopes.outputs_of_turn(journey, place.turn(wake["iterations"] - 1))
        return Result({"iterations": wake["iterations"], "last": last})
    return Result(_outputs(journey, place, wake["total"]))


def _first_failure(journey: Journey, place: Place, index: int) -> StepError:
    turn = place.turn(index)
    what = "iteration" if place.graph.kind == "loop" else "item"
    for path, message, _ in _failures(journey, turn.prefix):
        if split(path)[0] == turn.prefix:
            return StepError(f"Step {path} of {what} {index} failed: {message}")
    return StepError(f"The body failed in {what} {index}.")


def _outputs(journey: Journey, place: Place, total: int) -> list[Any]:
    """What each item came to, in the items' order."""
    graph = place.graph
    sinks = [graph.tasks[task] for task in graph.sinks]
    paths: dict[str, tuple[int, str]] = {}
    for index in range(total):
        prefix = place.turn(index).prefix
        for task in sinks:
            paths[prefix + graph.steps[task.steps[-1]].path] = (index, task.id)
    names = [task.id for task in sinks]
    blank: dict[str, Any] | None = dict.fromkeys(names) if len(names) > 1 else None
    outputs: list[Any] = [blank if blank is None else dict(blank) for _ in range(total)]
    wanted = list(paths)
    for first in range(0, len(wanted), COLLECTED):
        found = statements.fetch(
            "collect",
            {
                "execution": journey.execution_id,
                "epoch": journey.epoch,
                "paths": wanted[first : first + COLLECTED],
            },
        )
        for path, value in found:
            index, name = paths[path]
            if blank is None:
                outputs[index] = value
            else:
                outputs[index][name] = value
    if place.task.tolerant:
        _mark_failures(journey, place, outputs)
    return outputs


def _mark_failures(journey: Journey, place: Place, outputs: list[Any]) -> None:
    """An item in which a failure was not minded by an edge comes to that failure."""
    stem = place.stem
    marked: set[int] = set()
    for path, message, kind in _failures(journey, stem):
        prefix, inner = split(path)
        number = prefix[len(stem) :].partition("]")[0]
        if prefix != f"{stem}{number}]." or int(number) in marked:
            continue
        step = place.graph.steps[place.graph.by_path[inner]]
        if not place.graph.tasks[step.task].handles_error:
            marked.add(int(number))
            outputs[int(number)] = {"error": {"message": message, "type": kind, "step": path}}


def _failures(journey: Journey, prefix: str) -> list[tuple[Any, ...]]:
    return statements.fetch(
        "failures",
        {"execution": journey.execution_id, "epoch": journey.epoch, "prefix": prefix},
    )


def read_turns(journey: Journey, place: Place, run_id: UUID, document: Any) -> Turns:
    """A container's counters; after a roll-back they are made from the rows of its turns."""
    if document is not None:
        return _read(place, document)
    stem = place.stem
    found = statements.fetch(
        "turns", {"execution": journey.execution_id, "epoch": journey.epoch, "prefix": stem}
    )
    known = sorted(index for (index,) in found)
    given, total = statements.fetch("given", {"run": run_id})[0]
    turns: Turns
    if place.graph.kind == "loop":
        last = known[-1] if known else 0
        deferred = place.outer.graph.steps[place.task.steps[0]].deferred if place.outer else {}
        if deferred:
            turns = LoopTurns(last, None, int(given.get("maxIterations") or DEFAULT_MOST))
        else:
            turns = LoopTurns(last, int(given["count"]))
    else:
        wide = lanes(int(given.get("maxConcurrency") or DEFAULT_WIDE), pure=place.graph.pure)
        upto = known[-1] + 1 if known else 0
        spare = tuple(sorted(set(range(upto)) - set(known)))
        turns = MapTurns(total, wide, upto, tuple(known), spare)
    _keep_progress(run_id, turns)
    return turns


def _read(place: Place, document: dict[str, Any]) -> Turns:
    return (LoopTurns if place.graph.kind == "loop" else MapTurns).read(document)


def inside(place: Place, task: int) -> Place:
    """The first turn of a container that stands in `place`: the way to any of its turns."""
    return within(place, task, 0)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, name in ((str, "text"), (dict, "an object"), (list, "a list")):
        if isinstance(value, kind):
            return name
    return str(value)[:60]
