"""Load a segment's live run, and the other work in its message, before any claim."""

import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from executions.definition.graph.places import find, place_of, split
from executions.definition.versions import Compiled, compiled
from executions.sealing import SealBroken, payload_keys
from executions.sealing.sealer import (
    opened,
    opened_facts,
    opened_results,
    opened_variables,
)
from runners import statements
from runners.conf import config
from runners.dispatch import estimates
from runners.dispatch.canvas import SegmentLink, link
from runners.segment.context import SegmentContext
from runners.segment.packs import ExecutionPack, SiblingPack
from runners.segment.state import SegmentState
from runners.segment.template_data import TemplateData, reads_of
from runners.segment.work import LiveRun
from runners.states import RunState

CLAIMABLE = (RunState.PENDING, RunState.RUNNING)


def load(
    execution_id: UUID,
    version_id: UUID,
    segment: str,
    *,
    links: tuple[str, ...] = (),
    header: bool = False,
    others: Sequence[str] = (),
    states: tuple[str, ...] = CLAIMABLE,
) -> tuple[SegmentState, LiveRun] | None:
    """Load the segment's live run, and the data that the segment's first step reads.

    Also load the data that the siblings in the same message (`others`) read. Return None if the
    execution is not running, or has no live run of this segment in one of the `states`. If the
    execution was moved to another version after the message was sent, use the new version.
    """
    began = time.perf_counter()
    version = compiled(version_id)
    asked = _asked(version, segment, others)
    if asked is None:
        return None
    row = statements.fetch_one("load", asked | {"execution": execution_id})
    if row is None:
        return None
    found = _Loaded(*row)
    if found.execution_state != "RUNNING" or found.run_state not in states:
        return None
    if found.version_id != version_id:
        return load(
            execution_id,
            found.version_id,
            segment,
            links=links,
            header=header,
            others=others,
            states=states,
        )
    state, live_run = _found(execution_id, version, segment, found, links, header=header)
    state.received_at = began
    return state, live_run


def load_pack(
    version_id: UUID, segment: str, execution_ids: Sequence[UUID]
) -> ExecutionPack[SegmentState]:
    """Return the executions whose segments are in one message, each loaded as `load` does.

    Skip executions of other versions: a move to another version sends the segments again.
    """
    version = compiled(version_id)
    asked = _asked(version, segment)
    until = time.monotonic()
    if asked is None:
        return ExecutionPack(version, deque(), until, 0, SegmentLink(segment, "", ""))
    place, first = find(version.graph, segment)
    until += _patience(version, (segment,))
    rows = statements.fetch("load_many", asked | {"executions": list(execution_ids)})
    found = {row[0]: _Loaded(*row[1:]) for row in rows}
    pack: ExecutionPack[SegmentState] = ExecutionPack(
        version,
        deque(execution_ids),
        until,
        next((one.priority for one in found.values()), 0),
        link(place, first),
    )
    for execution_id, one in found.items():
        known = one.version_id == version_id
        if known and one.execution_state == "RUNNING" and one.run_state in CLAIMABLE:
            pack.seen[execution_id] = _found(execution_id, version, segment, one)
    return pack


def _asked(version: Compiled, segment: str, others: Sequence[str] = ()) -> dict[str, Any] | None:
    """Return the query's parameters; None if the version has no such segment (an old message)."""
    try:
        reads = reads_of(*find(version.graph, segment))
        for other in others:
            reads += reads_of(*find(version.graph, other))
    except KeyError:
        return None
    return {
        "segment": segment,
        "want_input": version.reads_input,
        "want_vars": bool(version.graph.variables),
        "reads": list(set(reads)) if others else reads,
    }


def _found(
    execution_id: UUID,
    version: Compiled,
    segment: str,
    found: "_Loaded",
    links: tuple[str, ...] = (),
    *,
    header: bool = False,
) -> tuple[SegmentState, LiveRun]:
    """Return the state of the segment, and its live run, both built from the loaded row."""
    unreadable = None
    if found.sealing_key is not None:
        # Open the key now, because no lock may be held during a call of a KMS.
        payload_keys.opened(found.sealing_key)
    try:
        found = _opened(execution_id, found)
    except SealBroken as error:
        unreadable = error
        found = found._replace(input=None, variables={}, overrides=None, details=None, results=[])
    prefix, inner = split(found.path)
    place, _ = find(version.graph, segment)
    if prefix != place.prefix:  # a batch of a map's items was taken over after its first item
        place = place_of(version.graph, prefix)
    # A worker that suspends a run records all that it knows. Other earlier holders may have known
    # more than the rows.
    woken = bool(found.waits_for) and found.publications == 1
    step = place.graph.steps[place.graph.by_path[inner]]
    context = SegmentContext(
        execution_id=execution_id,
        version=version,
        epoch=found.epoch,
        priority=found.priority,
        queue=step.queue,
        started_at=found.started_at,
        input=found.input,
        trace_id=found.trace_id,
        principal_id=found.principal_id,
        links=links,
        header=header,
        sealing_key=found.sealing_key,
    )
    state = SegmentState(
        context,
        TemplateData(context, place, found.variables or {}),
        segment,
        resumed=not woken and (found.token > 0 or found.path != segment),
    )
    state.unreadable = unreadable
    state.data.learn(found.results or [])
    live_run = LiveRun(
        found.run_id, step, found.attempt, found.budget, found.run_state, found.token,
        found.leased_by, found.crashes, found.suspect, found.overrides, found.details,
        bool(found.expired), found.waits_for, found.wake, found.inputs,
        found.inputs_hash,
    )  # fmt: skip
    return state, live_run


class _Loaded(NamedTuple):
    """A row of `load.sql`, column by column."""

    execution_state: str
    epoch: int
    started_at: datetime | None
    principal_id: Any
    input: Any
    variables: dict[str, Any] | None
    run_id: UUID
    path: str
    attempt: int
    budget: int
    run_state: str
    token: int
    leased_by: str
    crashes: int
    suspect: bool
    overrides: Any
    details: Any
    priority: int
    expired: bool | None
    waits_for: str
    wake: Any
    inputs: Any
    inputs_hash: str
    publications: int
    trace_id: str
    version_id: UUID
    sealing_key: int | None
    results: list[Any] | None


def _opened(execution_id: UUID, found: _Loaded) -> _Loaded:
    """Return the row with its payloads opened if they are sealed."""
    path = found.path
    return found._replace(
        input=opened(execution_id, found.input, "trigger_payload"),
        variables=opened_variables(execution_id, found.variables),
        overrides=opened(execution_id, found.overrides, "overrides", path),
        details=opened(execution_id, found.details, "heartbeat_details", path),
        inputs=opened(execution_id, found.inputs, "inputs", path),
        wake=opened_facts(execution_id, found.wake, "wake", found.run_id),
        results=opened_results(execution_id, found.results or ()),
    )


def load_siblings(state: SegmentState, others: deque[str]) -> SiblingPack:
    """Return the siblings in a segment's message; for a new segment, with their pending runs.

    When the time for these siblings is over, other workers get the rest.
    """
    version = state.context.version
    until = time.monotonic() + _patience(version, (state.segment, *others))
    context = state.context
    made = SiblingPack(version, others, until, context.priority, context.execution_id)
    if state.resumed:
        # The segment was tried before, so each sibling's run is read when its turn comes.
        return made
    found = statements.fetch(
        "siblings",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "paths": list(others),
        },
    )
    for run_id, path, attempt, budget in found:
        _, step = find(state.context.version.graph, path)
        made.seen[path] = LiveRun(
            run_id, step, attempt, budget, RunState.PENDING, 0, "", 0,
            suspect=False, overrides=None, details=None, expired=False,
        )  # fmt: skip
    return made


def _patience(version: Compiled, segments: Sequence[str]) -> float:
    """Return how many seconds these segments may take: fewer if a step's duration is unknown."""
    steps = [find(version.graph, segment)[1] for segment in segments]
    effects = [step for step in steps if not step.inline]
    estimates.learn_durations(version.workflow_id, effects)
    timed = all(estimates.estimate_duration(step) is not None for step in effects)
    return config().pack_patience if timed else config().pack_trial
