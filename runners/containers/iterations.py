"""Open the iterations of a container's body, count the ended iterations, and start more.

The transaction that ends an iteration starts the next ones or wakes the container, under the
execution's lock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID

from executions import payloads
from executions.definition.graph.iterations import LoopTurns, MapTurns, batch, lanes
from executions.definition.graph.places import Place, first_turn
from executions.definition.graph.plan import SKIPPED
from executions.definition.templates import Template, TemplateError
from executions.payload_store.blocks import length_of
from executions.sealing import payloads as sealed_payloads
from executions.sealing.sealer import opened
from runners import statements
from runners.conf import config
from runners.containers import iteration_results
from runners.dispatch import messages
from runners.dispatch.canvas import Parcel
from runners.segment import run_rows
from runners.segment.execution_lock import left_to_worker
from runners.segment.state import Segment, SegmentState
from runners.segment.work import Work

DEFAULT_WIDE = 100
DEFAULT_MOST = 1_000

Turns = LoopTurns | MapTurns


def open_turns(state: SegmentState, work: Work, document: dict[str, Any]) -> None:
    """Start the first iterations of a container that begins to wait, under the execution's lock."""
    place = first_turn(state.place, work.step.task)
    if work.attempt > 1:
        statements.fetch(
            "supersede_body",
            {"execution": state.context.execution_id, "prefix": place.stem},
        )
    turns = _read(place, document)
    start(state, place, turns.places)


def start(
    state: SegmentState, place: Place, indexes: Sequence[int], batch: Sequence[int] = ()
) -> None:
    """Insert the first runs of iterations; send all except the run that this worker keeps.

    `batch` holds further items of a pure map that this worker also executes.
    """
    parts: list[str] = []
    parcels: list[Parcel] = []
    for index in indexes:
        turn = place.turn(index)
        ready = [turn.graph.tasks[task].steps[0] for task in turn.graph.roots]
        parts += [run_rows.pending(turn.graph.steps[step], turn.prefix) for step in ready]
        kept = _keep(state, turn, ready, batch)
        left = [step for step in ready if step != kept]
        if left:
            parcels.append(
                messages.parcel(
                    state.context.execution_id,
                    state.context.version.id,
                    state.context.priority,
                    turn,
                    left,
                )
            )
    run_rows.insert(state, parts)
    messages.publish_after_commit(parcels)


def _keep(state: SegmentState, turn: Place, ready: list[int], batch: Sequence[int]) -> int | None:
    """Choose the ready step that this worker runs next; return its index.

    Returns None if the worker cannot run any of the steps, or has a next step already.
    """
    if not state.stays or state.next_segment is not None or state.paused:
        return None
    for index in ready:
        step = turn.graph.steps[index]
        if step.queue == state.context.queue:
            path = turn.prefix + step.path
            name = f"{turn.graph.name}: {path}"
            state.next_segment = Segment(path, step.queue, name, tuple(batch))
            return index
    return None


def turn_over(
    state: SegmentState,
    place: Place,
    *,
    ended: Sequence[int],
    failed: Sequence[int] = (),
    begun: Sequence[int] = (),
    unstarted: Sequence[int] = (),
    counted_anew: bool = False,
) -> bool:
    """Record ended iterations in their container's counters; start more, or wake the container.

    `place` is any of the container's iterations. `failed` are the ended iterations with a failure
    that no edge handled. `begun` have rows although the counters list them as spare; `unstarted`
    have no rows although the counters list them as open. `counted_anew` is true if the counters
    were rebuilt, as after a roll-back. The caller holds the execution's lock. Returns whether
    anything was started or woken.
    """
    row = statements.fetch_one(
        "waiting_container",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "path": place.holder,
        },
    )
    if row is None:
        return False
    run_id, document, queue = row
    if place.graph.kind == "loop":
        loop = LoopTurns.read(document)
        if loop.index in ended and not failed and _left_to_worker(state, place, loop):
            return False
        return _next_iteration(state, place, run_id, queue, loop, ended, failed)
    turns = MapTurns.read(document).begun(begun).closed(ended).given_back(unstarted)
    again: tuple[int, ...] = ()
    if failed and not place.task.tolerant:
        if counted_anew:
            turns, again = turns.begun_again(_set_back(state, place, run_id))
        turns = replace(turns, failed=min(failed) if turns.failed is None else turns.failed)
    return _next_items(state, place, run_id, queue, turns, again)


def _set_back(state: SegmentState, place: Place, run_id: UUID) -> list[int]:
    """Return the indexes of a map's items that had started and that the last roll-back undid."""
    found = statements.fetch(
        "iterations_rolled_back",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "prefix": place.stem,
            "run": run_id,
        },
    )
    return [index for (index,) in found]


def _next_items(
    state: SegmentState,
    place: Place,
    run_id: UUID,
    queue: str,
    turns: MapTurns,
    again: tuple[int, ...],
) -> bool:
    """Start more items, and the reset items `again`; wake the container if the map is over.

    Returns whether anything was started or woken.
    """
    if turns.over:
        wake: dict[str, Any] = {"by": "body", "total": turns.total}
        if turns.failed is not None:
            wake["failed"] = turns.failed
        return _wake(state, place, run_id, queue, turns, wake)
    dead = _dead_within(state, place)
    rest: tuple[int, ...] = ()
    if _carries(state, place):
        turns, given, rest = _batched(state, turns, dead=dead)
    else:
        turns, given = turns.handed_out(0 if dead else turns.free)
    _keep_progress(state, run_id, turns)
    start(state, place, (*again, *given), rest)
    return bool(again or given)


def _carries(state: SegmentState, place: Place) -> bool:
    """Return whether the map is pure and this worker executes its items itself, in batches."""
    outer = state.place.outer
    return (
        place.graph.pure
        and not state.resumed
        and outer is not None
        and state.place.holder == place.holder
    )


def _batched(
    state: SegmentState, turns: MapTurns, *, dead: bool
) -> tuple[MapTurns, tuple[int, ...], tuple[int, ...]]:
    """Return the container's counters, the next item (at most one), and the rest of its batch.

    No item is returned while other workers run steps of the current item; the worker that ends the
    current item continues with the next.
    """
    left, state.batch = tuple(state.batch), []
    # While other workers run the item's steps, its slot is not free.
    if state.place.index in turns.open:
        return turns.given_back(left), (), ()
    alone = not state.stays or state.paused
    if left and not alone:
        # Count the item as begun. A plan in another process may have set it aside, because that
        # process cannot see the batch in this worker's memory.
        return turns.begun(left[:1]), left[:1], left[1:]
    turns = turns.given_back(left)
    if dead:
        return turns, (), ()
    turns, given = turns.handed_out(1)
    if alone or not given:
        return turns, given, ()
    turns, rest = turns.handed_out(batch(turns) - 1)
    return turns, given, rest


def _next_iteration(
    state: SegmentState,
    place: Place,
    run_id: UUID,
    queue: str,
    turns: LoopTurns,
    ended: Sequence[int],
    failed: Sequence[int],
) -> bool:
    if turns.index not in ended:
        return False
    state.passed.turn = True
    done = turns.index + 1
    wake: dict[str, Any] = {"by": "body", "iterations": done}
    if failed:
        return _wake(state, place, run_id, queue, turns, wake | {"failed": turns.index})
    try:
        more = _goes_on(state, place.turn(turns.index), turns)
    except TemplateError as error:
        return _wake(state, place, run_id, queue, turns, wake | {"error": str(error)})
    if not more:
        return _wake(state, place, run_id, queue, turns, wake)
    if turns.count is None and done >= turns.most:
        return _wake(state, place, run_id, queue, turns, wake | {"limit": turns.most})
    following = replace(turns, index=done)
    _keep_progress(state, run_id, following)
    start(state, place, following.places)
    return True


def _goes_on(state: SegmentState, turn: Place, turns: LoopTurns) -> bool:
    holds = partial(iteration_results.condition_holds, state.context, turn, ended=True)
    return goes_on(_conditions(turn), turns, holds)


def goes_on(
    conditions: Mapping[str, Template], turns: LoopTurns, holds: Callable[[str], bool]
) -> bool:
    """Return whether a loop has another iteration; `holds` evaluates a condition by name."""
    if turns.count is not None:
        return turns.index + 1 < turns.count
    if "until" in conditions and holds("until"):
        return False
    return "while" not in conditions or holds("while")


def _left_to_worker(state: SegmentState, place: Place, turns: LoopTurns) -> bool:
    """Return whether only a worker may plan the loop, because a condition must be rendered."""
    if turns.count is not None:
        return False
    return any(left_to_worker(state, template) for template in _conditions(place).values())


def _conditions(place: Place) -> Mapping[str, Template]:
    """Return the `while` and `until` conditions of the loop around a place; {} if there is none."""
    return place.outer.graph.steps[place.task.steps[0]].deferred if place.outer else {}


def failed_in(place: Place, outcomes: dict[int, str]) -> bool:
    """Return whether an iteration ended with a failure that no edge in the body handles."""
    return any(
        outcome == "error" and not place.graph.tasks[task].handles_error
        for task, outcome in outcomes.items()
        if outcome != SKIPPED
    )


def give_back_batch(state: SegmentState) -> None:
    """Add the unstarted items of this worker's batch to the map's spare items, for the next plan.

    They are not assigned here, because the result of the current item decides whether more items
    start. Call this function in a transaction that holds the execution's lock.
    """
    unstarted, state.batch = state.batch, []
    row = statements.fetch_one(
        "waiting_container",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "path": state.place.holder,
        },
    )
    if row is not None:
        _keep_progress(state, row[0], MapTurns.read(row[1]).given_back(unstarted))


def _dead_within(state: SegmentState, place: Place) -> bool:
    row = statements.fetch_one(
        "has_dead_step_in_body",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "prefix": place.stem,
        },
    )
    return bool(row and row[0])


def _keep_progress(state: SegmentState, run_id: UUID, turns: Turns) -> None:
    document = payloads.dump(turns.document(), "counters of a container")
    own = {"execution": state.context.execution_id, "run": run_id}
    statements.fetch("store_counters", own | {"progress": document})


def _wake(
    state: SegmentState, place: Place, run_id: UUID, queue: str, turns: Turns, wake: dict[str, Any]
) -> bool:
    row = statements.fetch_one(
        "wake_container",
        {
            "execution": state.context.execution_id,
            "run": run_id,
            "progress": payloads.dump(turns.document(), "counters of a container"),
            "wake": state.context.sealer.facts(
                payloads.dump(wake, "end of a container's body"), "wake", run_id
            ),
            "patience": config().patience,
        },
    )
    if row is None:
        return False
    segment, _, path = row
    name = f"{place.graph.name}: {path}"
    if (
        state.stays
        and state.next_segment is None
        and not state.paused
        and queue == state.context.queue
    ):
        state.next_segment = Segment(segment, queue, name)
    else:
        messages.publish_segment_after_commit(
            state.context.execution_id,
            state.context.version.id,
            state.context.priority,
            segment,
            queue,
            name,
        )
    return True


def read_turns(state: SegmentState, place: Place, run_id: UUID, document: Any) -> Turns:
    """Return a container's counters; if none are stored, rebuild them from its iterations' rows."""
    if document is not None:
        return _read(place, document)
    stem = place.stem
    found = statements.fetch(
        "iterations_with_rows",
        {"execution": state.context.execution_id, "epoch": state.context.epoch, "prefix": stem},
    )
    known = sorted(index for (index,) in found)
    own = {"execution": state.context.execution_id, "run": run_id}
    path, given, total = statements.fetch("container_inputs", own)[0]
    if sealed_payloads.is_sealed(given):
        given = opened(state.context.execution_id, given, "inputs", path)
        total = length_of(given.get("items"))
    turns: Turns
    if place.graph.kind == "loop":
        last = known[-1] if known else 0
        if _conditions(place):
            turns = LoopTurns(last, None, int(given.get("maxIterations") or DEFAULT_MOST))
        else:
            turns = LoopTurns(last, int(given["count"]))
    else:
        wide = lanes(int(given.get("maxConcurrency") or DEFAULT_WIDE), pure=place.graph.pure)
        upto = known[-1] + 1 if known else 0
        spare = tuple(sorted(set(range(upto)) - set(known)))
        turns = MapTurns(total, wide, upto, tuple(known), spare)
    _keep_progress(state, run_id, turns)
    return turns


def _read(place: Place, document: dict[str, Any]) -> Turns:
    return (LoopTurns if place.graph.kind == "loop" else MapTurns).read(document)
