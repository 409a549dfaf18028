"""Run segments step by step, so that a test can stop in the middle of one."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from runners.models import Run
from runners.pipeline import claim_run, execute, load_segment, record_result
from runners.segment.state import SegmentState
from runners.segment.work import LiveRun, Work

Held = tuple[SegmentState, Work]


def seen(execution_id: UUID, segment: str) -> tuple[SegmentState, LiveRun]:
    """Return the segment's live run as a worker sees it before the claim."""
    version = Run.objects.filter(execution_id=execution_id).values_list(
        "execution__version_id", flat=True
    )[0]
    found = load_segment.load(execution_id, version, segment)
    assert found is not None, f"segment {segment} has no live run"
    return found


def claimed(execution_id: UUID, segment: str) -> Held:
    """Claim the segment's live run."""
    state, run = seen(execution_id, segment)
    work = claim_run.claim(state, run)
    assert work is not None, f"the run of {segment} could not be claimed"
    return state, work


def recorded(held: Held) -> Work | None:
    """Execute the claimed step and record it; return the remaining work."""
    state, work = held
    return record_result.record(state, work, execute.perform(state, work))


def run_of(execution_id: UUID, path: str) -> Run:
    """Return the newest attempt of a step."""
    found = Run.objects.filter(execution_id=execution_id, step_path=path).order_by("-attempt")
    run = found.first()
    assert run is not None, f"{path} has no run"
    return run


def extend_leases(executions: Sequence[UUID]) -> None:
    """Extend the leases of these executions' runs by a day, so that no later test finds them
    expired.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET lease_until = clock_timestamp() + interval '1 day', "
            "due_at = clock_timestamp() + interval '1 day' "
            "WHERE execution_id = ANY(%s) AND lease_until IS NOT NULL",
            [list(executions)],
        )


def lease_runs_out(run_id: Any) -> None:
    """Let the run's lease expire."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET lease_until = clock_timestamp() - interval '1 s', "
            "due_at = clock_timestamp() - interval '1 s' WHERE id = %s",
            [run_id],
        )
