"""Containers: a loop or a map opens its body, and continues when all its iterations have ended.

Until then, the container's own run waits and keeps the counters (see `iterations`).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from executions import payload_store, payloads
from executions.definition.graph.iterations import LoopTurns, MapTurns, lanes
from executions.definition.graph.model import Step
from executions.definition.graph.places import Place, first_turn, split
from executions.definition.templates import TemplateError
from executions.errors import PayloadError
from executions.payload_store.reading import size_of, too_large
from executions.payload_store.references import is_content
from executions.payloads import is_reference
from runners.containers import iteration_results
from runners.containers.iterations import DEFAULT_MOST, DEFAULT_WIDE, Turns
from runners.failures.classification import classify
from runners.modules import registry
from runners.modules.base import Result, StepError, Wait
from runners.modules.containers import MAX_COUNT, MAX_ITEMS
from runners.segment import template_data
from runners.segment.state import SegmentState
from runners.segment.work import Done, Unit, Work
from runners.states import WaitKind


def perform(state: SegmentState, work: Work) -> Unit:
    """Open a container whose run was claimed, or collect its body's results after it was woken."""
    began = time.perf_counter()
    assert work.prepared is not None
    try:
        made = _opened(state, work) if work.wake is None else _collected(state, work)
        if isinstance(made, Wait):
            return Unit(None, wait=made)
        if payload_store.enabled():  # stored outputs of the body remain references
            made = replace(made, outputs=payloads.trusted(made.outputs))
        outputs = payloads.dump(made.outputs, f"output of step {work.path}")
    except (StepError, TemplateError, PayloadError) as error:
        failure = classify(error)
        return Unit(None, failure=replace(failure, message=f"{work.path}: {failure.message}"))
    milliseconds = 1000 * (time.perf_counter() - began)
    state.ended(work.step, "success", made.outputs)
    done = Done(work.step, state.place, work.prepared, made, outputs, milliseconds)
    return Unit(done)


def _opened(state: SegmentState, work: Work) -> Result | Wait:
    assert work.prepared is not None
    given = work.prepared.value
    if work.step.container == "map":
        turns: Turns | None = open_map(first_turn(state.place, work.step.task), given)
    else:
        first = first_turn(state.place, work.step.task)
        holds = partial(iteration_results.condition_holds, state.context, first, ended=False)
        turns = open_loop(work.step, given, holds)
    if turns is None:
        return Result(empty(work.step))
    return Wait(WaitKind.BODY, facts=turns.document())


def empty(step: Step) -> Any:
    """Return the output of a container without iterations."""
    return [] if step.container == "map" else {"iterations": 0, "last": None}


def open_map(first: Place, given: Mapping[str, Any]) -> MapTurns | None:
    """Return the counters of a map with these inputs; None if it has no items.

    This function is pure. `first` is the place of the map's first item. Raises StepError for
    invalid inputs.
    """
    items = given.get("items")
    if is_reference(items) and not is_content(items):
        raise StepError(str(too_large(size_of(items))))
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
    wide = lanes(int(given.get("maxConcurrency") or DEFAULT_WIDE), pure=first.graph.pure)
    turns, _ = MapTurns(len(items), wide).handed_out(wide)
    return turns


def open_loop(
    step: Step, given: Mapping[str, Any], holds: Callable[[str], bool]
) -> LoopTurns | None:
    """Return the counters of a loop with these inputs; None if it has no iterations.

    `holds` evaluates the loop's condition with the given name, before the first iteration. Raises
    StepError for invalid inputs.
    """
    if "while" in step.deferred or "until" in step.deferred:
        most = int(given.get("maxIterations") or DEFAULT_MOST)
        if "while" in step.deferred and not holds("while"):
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


def _collected(state: SegmentState, work: Work) -> Result:
    wake = work.wake
    place = first_turn(state.place, work.step.task)
    if "error" in wake:
        raise StepError(f"The condition of the loop could not be rendered: {wake['error']}")
    if "limit" in wake:
        raise StepError(too_often(wake["limit"]))
    if "failed" in wake:
        raise _first_failure(state, place, wake["failed"])
    if place.graph.kind == "loop":
        last = template_data.outputs_of_turn(state.data, place.turn(wake["iterations"] - 1))
        assert work.prepared is not None
        return Result(loop_output(work.step, work.prepared.value, wake["iterations"], last))
    return Result(iteration_results.outputs(state, place, wake["total"]))


def loop_output(step: Step, given: Mapping[str, Any], iterations: int, last: Any) -> Any:
    """Return the output of a loop, which its module computes from the last iteration's outputs."""
    return registry.get(step.module).collected(given, iterations, last)


def too_often(limit: int) -> str:
    """Return the error message for a loop that has reached its limit."""
    return (
        f"The loop ran {limit:,} times, its maxIterations, and its condition still requires "
        "another iteration. Fix the condition, or raise maxIterations (at most "
        "LOOP_LIMIT_CONDITION)."
    )


def _first_failure(state: SegmentState, place: Place, index: int) -> StepError:
    turn = place.turn(index)
    what = "iteration" if place.graph.kind == "loop" else "item"
    for path, message, _ in iteration_results.failures(state, turn.prefix):
        prefix, inner = split(path)
        if prefix == turn.prefix and not iteration_results.minded(turn, inner):
            return StepError(f"Step {path} of {what} {index} failed: {message}")
    return StepError(f"The body failed in {what} {index}.")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, name in ((str, "text"), (dict, "an object"), (list, "a list")):
        if isinstance(value, kind):
            return name
    return str(value)[:60]
