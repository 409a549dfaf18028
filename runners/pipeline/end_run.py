"""End a live run without its holder, for example after a timeout or by quarantine.

The run's token is increased first, so the database rejects later writes by its holder. The run is
then retried, continues at an error edge, or becomes a dead letter. A run that a gate holds, before
a remote runner leases it, is suspended in the same way.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.database import transaction
from executions.definition.graph.places import find
from executions.definition.versions import compiled
from executions.errors import WrongState
from executions.sealing.sealer import opened
from runners import statements
from runners.failures.classification import Failure
from runners.modules.base import Wait
from runners.pipeline import record_result
from runners.process.identity import process_identity
from runners.segment.state import SegmentState, from_rows
from runners.segment.work import Unit, Work
from runners.states import LIVE


@dataclass(frozen=True, slots=True)
class Looked:
    """A run in its current state, and the state of its execution."""

    run_state: str
    token: int
    leased_by: str
    crashes: int
    execution_state: str
    state: SegmentState
    work: Work
    holds_body: bool  # whether it is a container that waits for its body


def execution_of(run_id: UUID) -> UUID | None:
    """Return a run's execution ID, for callers that know only the run; None if no such run exists.

    Statements about a run also name its execution, so that they read only one partition of a
    partitioned table.
    """
    row = statements.fetch_one("execution_of", {"run": run_id})
    return row[0] if row else None


def look(execution_id: UUID, run_id: UUID) -> Looked | None:
    """Return the run and its execution; None if the current epoch has no such run."""
    row = statements.fetch_one("run_and_execution", {"execution": execution_id, "run": run_id})
    if row is None:
        return None
    (epoch, path, segment, attempt, budget, run_state, token, leased_by, overrides,
     crashes, execution_state, version_id, priority, holds_body) = row  # fmt: skip
    version = compiled(version_id)
    place, step = find(version.graph, path)
    state = from_rows(execution_id, version, epoch, priority, place=place, segment=segment)
    state.hands_over = True
    work = Work(
        run_id=run_id,
        execution_id=execution_id,
        token=token,
        holder=process_identity(),
        step=step,
        path=path,
        prepared=None,
        attempt=attempt,
        budget=budget,
        overrides=opened(execution_id, overrides, "overrides", path),
    )
    return Looked(run_state, token, leased_by, crashes, execution_state, state, work, holds_body)


def fail(
    execution_id: UUID,
    run_id: UUID,
    failure: Failure,
    *,
    token: int | None = None,
    crash_cause: str = "",
) -> bool:
    """Fail a live run: it is retried, follows an error edge, or becomes a dead letter.

    Return False if the run is no longer live. With `token`, also return False if another worker has
    taken the run over since the token was read. With `crash_cause`, count one more crash. Raises
    WrongState for a container whose body is running.
    """
    with transaction.atomic():
        seized = _seize(execution_id, run_id, token, crash_cause)
        if seized is None:
            return False
        record_result.record(seized.state, seized.work, Unit(None, failure=failure))
    return True


def put_to_sleep(execution_id: UUID, run_id: UUID, wait: Wait, *, token: int) -> bool:
    """Suspend a live run.

    Return False if the run is not live, or was taken over since the token was read. Raises
    WrongState for a container whose body is running.
    """
    with transaction.atomic():
        seized = _seize(execution_id, run_id, token)
        if seized is None:
            return False
        record_result.record(seized.state, seized.work, Unit(None, wait=wait))
    return True


def dead_letter(execution_id: UUID, run_id: UUID, failure: Failure, *, manual: str) -> Any:
    """Move a live run to the dead-letter queue for a user.

    Return the dead letter; None in a test run, or if the run is not live. Raises WrongState for a
    container whose body is running.
    """
    with transaction.atomic():
        seized = _seize(execution_id, run_id, None)
        if seized is None:
            return None
        return record_result.dead_letter(
            seized.state, seized.work, Unit(None, failure=failure), manual=manual
        )


def _seize(
    execution_id: UUID, run_id: UUID, token: int | None, crash_cause: str = ""
) -> Looked | None:
    looked = look(execution_id, run_id)
    if looked is None:
        return None
    locked = statements.fetch_one("lock", {"execution": execution_id})
    if locked is None or locked[0] not in ("RUNNING", "PAUSED"):
        return None
    looked = look(execution_id, run_id)
    if looked is None or looked.run_state not in LIVE or token not in (None, looked.token):
        return None
    if looked.holds_body:
        raise WrongState(
            f"Run {run_id} of step {looked.work.path} is a container whose body is running. "
            "Quarantine the steps inside it, or cancel the execution.",
            looked.run_state,
        )
    row = statements.fetch_one(
        "take_lease_from_holder",
        {
            "execution": execution_id,
            "run": run_id,
            "token": looked.token,
            "holder": looked.work.holder,
            "crashed": int(bool(crash_cause)),
            "cause": crash_cause,
        },
    )
    if row is None:
        return None
    looked.work.token = row[0]
    return looked
