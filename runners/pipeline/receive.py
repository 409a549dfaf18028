"""Receive a message: claim its segments and run each until no step is left for this worker."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.db import IntegrityError

from executions.definition.templates import TemplateError
from executions.payload_store import PayloadStoreUnavailable
from executions.sealing import SealBroken
from runners.conf import config
from runners.errors import LeaseLost, StepFailed
from runners.failures.classification import Failure
from runners.observability import metrics
from runners.pipeline import (
    claim_run,
    database_steps,
    execute,
    load_segment,
    record_result,
)
from runners.planning import plan_execution
from runners.ports import run_isolated
from runners.process import activity
from runners.process.activity import draining
from runners.segment import template_data
from runners.segment.packs import ExecutionPack
from runners.segment.state import Segment, SegmentState
from runners.segment.work import LiveRun, Work

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
    """Run a segment from its live run, and then the siblings in the same message.

    Does nothing for a duplicate or late message. Raises LeaseLost if another worker took the run
    over, and StepFailed (outside chains and chords) if a step failed, so that Flower shows the
    failure.
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


def run_executions(execution_ids: Sequence[UUID], version_id: UUID, segment: str) -> None:
    """Run the same segment of several executions, each from its live run, one after another.

    The record that ends one execution can claim the next one's run. After the pack's time, the
    remaining executions are sent again. Raises StepFailed if a step of any execution failed.
    """
    until = time.monotonic() + config().stay_seconds
    pack = load_segment.load_pack(version_id, segment, execution_ids)
    failures: list[Failure] = []
    try:
        while (begun := next_execution(pack)) is not None:
            try:
                failure = _run_execution(*begun, until)
            except LeaseLost:
                metrics.FENCED.inc()
                failure = None
            if failure is not None:
                failures.append(failure)
            if draining():
                _leave(pack)
            elif pack.late():
                pack.hand_back()
    except Exception:
        _leave(pack)  # the message fails because of one execution, which must not delay the others
        raise
    finally:
        activity.rests()
    if failures:
        first = f"{failures[0].exception}: {failures[0].message}"
        raise StepFailed(f"{len(failures)} of {len(execution_ids)} executions; the first: {first}")


def next_execution(
    pack: ExecutionPack[SegmentState],
) -> tuple[SegmentState, Work] | None:
    """Return the pack's next execution with its claimed run; None if no run could be claimed."""
    claimed, pack.claimed = pack.claimed, None
    while claimed is None and (found := pack.following()) is not None:
        state, seen = found
        work = take(state, seen)
        claimed = None if work is None else (state, work)
    if claimed is not None:
        claimed[0].executions = pack
    return claimed


def _leave(pack: ExecutionPack[SegmentState]) -> None:
    """Leave work that has not started, including a run already claimed, to other workers."""
    pack.hand_back()
    claimed, pack.claimed = pack.claimed, None
    if claimed is not None:
        claim_run.give_back(claimed[1])


def _run_execution(state: SegmentState, work: Work, until: float) -> Failure | None:
    """Run one execution of a pack as far as this message allows; return its failure or None."""
    context = state.context
    ended: SegmentState | None = _run_on(state, work, until)
    failure = state.failure
    while ended is not None and (segment := ended.next_segment) is not None:
        ended = _run_one(context.execution_id, context.version.id, segment, until, deque())
        failure = failure or (ended.failure if ended else None)
    return failure


def _run_one(
    execution_id: UUID,
    version_id: UUID,
    segment: Segment,
    until: float,
    others: deque[str],
    *,
    links: tuple[str, ...] = (),
    header: bool = False,
) -> SegmentState | None:
    """Run one segment; return its state, or None if `claim_segment` or `_run_on` returns None.

    After `until` (of `time.monotonic`) this worker takes no further segment. `others` are the
    message's siblings; each is removed when it is claimed or handed back.
    """
    taken = claim_segment(execution_id, version_id, segment, others, links=links, header=header)
    return None if taken is None else _run_on(*taken, until)


def _run_on(state: SegmentState, work: Work | None, until: float) -> SegmentState | None:
    """Run a claimed segment and the siblings in its message.

    Return the state, which may name the next segment; None if another worker planned the same runs.
    """
    held_now = work
    try:
        while work is not None or (work := claim_run.claim_following(state)) is not None:
            held_now = work
            work = _perform_and_record(state, held_now, until)
            if draining():
                hand_back(state, work)
                break
        settle(state)
    except IntegrityError as error:
        # Another process planned the execution while this worker's steps existed only in its
        # memory.
        log.warning(
            "segment %s of %s planned twice: %s", state.segment, state.context.execution_id, error
        )
        hand_back(state, held_now)
        return None
    except LeaseLost:
        hand_back(state, None)
        raise
    return state


def settle(state: SegmentState) -> None:
    """Plan the execution if a join depends on siblings that this worker left to other workers.

    The workers that ran these siblings may have checked the join before this worker recorded its
    result.
    """
    if state.owes_join:
        plan_execution.advance(state.context.execution_id)


def _perform_and_record(state: SegmentState, work: Work, until: float) -> Work | None:
    if database_steps.applies(work):
        state.stays = _may_stay(state, until)
        return database_steps.perform_and_record(state, work)
    unit = execute.perform(state, work)
    state.stays = _may_stay(state, until)
    return record_result.record(state, work, unit)


def _may_stay(state: SegmentState, until: float) -> bool:
    """Return whether this worker may take further segments.

    It must have time and not be draining, and no other execution of the pack may be left.
    """
    waits = state.executions is not None and state.executions.left
    return not waits and time.monotonic() < until and not draining()


def run_one_step(
    execution_id: UUID, version_id: UUID, segment: str, *, links: tuple[str, ...] = ()
) -> bool:
    """Run a segment's current step only, and send all later steps to workers.

    Return False if the step's lease was lost; in that case, the row may name this process as the
    holder for a while.
    """
    taken = claim_segment(execution_id, version_id, Segment(segment, "", ""), links=links)
    if taken is None:
        return True
    state, work = taken
    if work is None:
        return True
    state.hands_over = True
    try:
        _perform_and_record(state, work, until=0)
    except IntegrityError as error:
        log.warning("segment %s of %s planned twice: %s", segment, execution_id, error)
        hand_back(state, work)
    except LeaseLost:
        log.info("the run of segment %s of %s was taken over", segment, execution_id)
        return False
    return True


def hand_back(state: SegmentState, work: Work | None) -> None:
    """Release the held run, and the siblings that have not started, to other workers."""
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
    """Load a segment and claim its live run; return the state and the work.

    Return None if the segment has no claimable run. The work is None if `take` claims no run. The
    state's pack holds `others`, the siblings in the segment's message.
    """
    found = load_segment.load(
        execution_id, version_id, segment.path, others=others or (), links=links, header=header
    )
    if found is None:
        return None
    state, seen = found
    return state, take(state, seen, segment, others)


def take(
    state: SegmentState,
    seen: LiveRun,
    segment: Segment | None = None,
    others: deque[str] | None = None,
) -> Work | None:
    """Claim the live run of a loaded segment.

    Return None if `run_isolated` handles the run, or if `claim_run.claim` returns None.
    """
    if run_isolated.provided and run_isolated(state, seen):
        return None
    # A process that was lost with a suspect may have been ended by a later step that existed only
    # in memory. That step gets its own run, which can then be blamed.
    state.hands_over = seen.suspect
    if others:
        state.pack = load_segment.load_siblings(state, others)
    if segment is not None and segment.batch and not state.resumed:
        state.batch = list(segment.batch)
        if any(step.reads_item for step in state.graph.steps):
            # Ignored here, because the claim reports an error of the payload store when it prepares
            # the inputs.
            with suppress(TemplateError, PayloadStoreUnavailable, SealBroken):
                template_data.load_items(state.data, [state.place.index, *state.batch])
    return claim_run.claim(state, seen)
