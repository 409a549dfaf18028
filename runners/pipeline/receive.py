"""Receive a message: claim its segments and run each, until nothing is left to run here."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError

from runners.conf import config
from runners.errors import LeaseLost, StepFailed
from runners.failures.classification import Failure
from runners.pipeline import (
    claim_run,
    database_steps,
    execute,
    record_result,
)
from runners.ports import run_isolated
from runners.process import activity
from runners.process.activity import draining
from runners.segment import template_data
from runners.segment.state import Segment, SegmentState
from runners.segment.work import Work

log = logging.getLogger(__name__)


def run_segment(
    execution_id: UUID,
    version_id: UUID,
    segment: str,
    *,
    others: Sequence[str] = (),
    links: tuple[str, ...] = (),
    header: bool = False,
) -> None:
    """Run a segment, from its live run on, and then the siblings that came with it.

    A message that comes twice, late or for nothing finds no run to claim and returns. Raises
    LeaseLost when somebody else took the run over meanwhile, StepFailed (outside chains and
    chords) when a step failed, so that Flower shows it.
    """
    until = time.monotonic() + config().stay_seconds
    left = deque((segment, *others))
    failure: Failure | None = None
    try:
        while left:
            segment_now: Segment | None = Segment(left.popleft(), "", "")
            now_links, now_header = links, header
            while segment_now is not None:
                state = _run_one(
                    execution_id,
                    version_id,
                    segment_now,
                    until,
                    left,
                    links=now_links,
                    header=now_header,
                )
                if state is None:
                    break
                now_links, now_header, segment_now = (), False, state.next_segment
                failure = failure or (
                    None if state.context.header or state.context.links else state.failure
                )
    finally:
        activity.rests()
    if failure is not None:
        raise StepFailed(f"{failure.exception}: {failure.message}")


def _run_one(
    execution_id: UUID,
    version_id: UUID,
    segment: Segment,
    until: float,
    others: deque[str],
    *,
    links: tuple[str, ...],
    header: bool,
) -> SegmentState | None:
    """Run one segment; the state it ends in names the segment to run next, if any.

    `until` (of `time.monotonic`) is when this worker takes on no further segment by itself;
    `others` are siblings to be run too; those that were run are taken out.
    """
    taken = claim_segment(execution_id, version_id, segment, others, links=links, header=header)
    if taken is None:
        return None
    state, work = taken
    held_now = work
    try:
        while work is not None or (work := claim_run.claim_following(state)) is not None:
            held_now = work
            work = _perform_and_record(state, held_now, until)
            if draining():
                hand_back(state, work)
                break
    except IntegrityError as error:
        # Somebody planned the whole execution while steps of ours were in memory only.
        log.warning("segment %s of %s planned twice: %s", state.segment, execution_id, error)
        hand_back(state, held_now)
        return None
    except LeaseLost:
        hand_back(state, None)
        raise
    return state


def _perform_and_record(state: SegmentState, work: Work, until: float) -> Work | None:
    if database_steps.applies(work):
        state.stays = _may_stay(until)
        return database_steps.perform_and_record(state, work)
    unit = execute.perform(state, work)
    state.stays = _may_stay(until)
    return record_result.record(state, work, unit)


def _may_stay(until: float) -> bool:
    """Whether this worker may take on further segments by itself."""
    return time.monotonic() < until and not draining()


def run_one_step(
    execution_id: UUID, version_id: UUID, segment: str, *, links: tuple[str, ...] = ()
) -> None:
    """Run the one step that a segment is at; whatever follows is sent to workers."""
    taken = claim_segment(execution_id, version_id, Segment(segment, "", ""), links=links)
    if taken is None:
        return
    state, work = taken
    if work is None:
        return
    state.hands_over = True
    try:
        _perform_and_record(state, work, until=0)
    except IntegrityError as error:
        log.warning("segment %s of %s planned twice: %s", segment, execution_id, error)
        hand_back(state, work)
    except LeaseLost:
        log.info("the run of segment %s of %s was taken over", segment, execution_id)


def hand_back(state: SegmentState, work: Work | None) -> None:
    """Leave to other workers what is held, and the siblings that were not begun."""
    if work is not None:
        claim_run.give_back(work)
    if state.pack is not None:
        state.pack.hand_back()


def claim_segment(
    execution_id: UUID,
    version_id: UUID,
    segment: Segment,
    others: deque[str] | None = None,
    *,
    links: tuple[str, ...] = (),
    header: bool = False,
) -> tuple[SegmentState, Work | None] | None:
    """Load a segment and claim its live run; None when there is none, no work when it is taken.

    `others` are the siblings that came with it, to be taken out and run.
    """
    found = claim_run.load(
        execution_id, version_id, segment.path, others=others or (), links=links, header=header
    )
    if found is None:
        return None
    state, seen = found
    if run_isolated.provided and run_isolated(state, seen):
        return state, None
    # A process that was lost with a suspect may have been lost by a step that follows in memory:
    # that one gets a run of its own, which can be blamed.
    state.hands_over = seen.suspect
    if others:
        state.pack = claim_run.pack(state, others)
    if segment.batch and not state.resumed:
        state.batch = list(segment.batch)
        if any(step.reads_item for step in state.graph.steps):
            template_data.load_items(state.data, [state.place.index, *state.batch])
    return state, claim_run.claim(state, seen)
