"""New runs as JSON rows for `record.sql` and `insert.sql`.

The constant part of a step is rendered once per process. The other values are joined as text,
because inputs and outputs are already canonical JSON. `prefix` is the place of the step's body:
empty for the workflow itself, `refine[2].` inside a loop.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

from executions import payloads
from executions.database.ids import uuid7
from executions.definition.graph.model import Step
from executions.sealing.sealer import PayloadSealer
from runners import statements
from runners.conf import config
from runners.process.cause_of_death import Death
from runners.segment.inputs import Prepared
from runners.segment.state import SegmentState


@lru_cache(maxsize=50_000)
def _static(step: Step) -> str:
    return json.dumps(
        {
            "task": str(step.task_uuid),
            "module_id": str(step.module_uuid),
            "module": step.module,
            "queue": step.queue,
            "config_hash": step.config_hash,
            "timeout": step.timeout_seconds,
        }
    )[1:-1]


def skipped(step: Step, prefix: str) -> str:
    """Return the row of a skipped step; no edge that was taken leads to its task."""
    path = prefix + step.path
    return (
        f'{{"id":"{uuid7()}","state":"SKIPPED","path":"{path}","segment":"{path}","attempt":1,"budget":1,'
        f"{_static(step)}}}"
    )


def pending(  # noqa: PLR0913 - a row's own columns
    step: Step,
    prefix: str,
    *,
    segment: str | None = None,
    attempt: int = 1,
    budget: int = 1,
    delay: float | None = None,
    overrides: Any = None,
    details: Any = None,
    run_id: UUID | None = None,
    sealer: PayloadSealer | None = None,
) -> str:
    """Return the row of a ready step; with `delay`, a retry due in that many seconds.

    `details` are the newest details of previous attempts. `sealer` is required with overrides or
    details.
    """
    more = "" if delay is None else f'"delay":{delay},'
    path = prefix + step.path
    if overrides is not None:
        assert sealer is not None
        text = sealer.json(payloads.dump(overrides, "overrides"), "overrides", path)
        more += f'"overrides":{text},'
    if details is not None:
        assert sealer is not None
        text = sealer.json(payloads.dump(details, "details"), "heartbeat_details", path)
        more += f'"details":{text},'
    return (
        f'{{"id":"{run_id or uuid7()}","state":"PENDING","path":"{path}",'
        f'"segment":"{segment or path}",'
        f'"attempt":{attempt},"budget":{budget},{more}{_static(step)}}}'
    )


def claimed(
    step: Step,
    prefix: str,
    segment: str,
    run_id: UUID,
    prepared: Prepared | None,
    *,
    sealer: PayloadSealer,
) -> str:
    """Return the row of a run that this worker claims and continues with."""
    inputs = ""
    if prepared is not None:
        text = sealer.json(prepared.text, "inputs", prefix + step.path)
        inputs = f'"key":"{prepared.key}","inputs_hash":"{prepared.hash}","inputs":{text},'
    return (
        f'{{"id":"{run_id}","state":"RUNNING","path":"{prefix}{step.path}",'
        f'"segment":"{segment}","attempt":1,"budget":1,'
        f"{inputs}{_static(step)}}}"
    )


def succeeded(
    step: Step,
    prefix: str,
    segment: str,
    prepared: Prepared,
    outputs: str,
    outcome: str,
    milliseconds: float,
    run_id: UUID | None = None,
    *,
    sealer: PayloadSealer,
) -> str:
    """Return the row of a pure step that already ran in memory."""
    path = prefix + step.path
    inputs = sealer.json(prepared.text, "inputs", path)
    outputs = sealer.json(outputs, "outputs", path)
    return (
        f'{{"id":"{run_id or uuid7()}","state":"SUCCESS","path":"{path}",'
        f'"segment":"{segment}","attempt":1,"budget":1,'
        f'"key":"{prepared.key}","inputs_hash":"{prepared.hash}","inputs":{inputs},'
        f'"outputs":{outputs},"outcome":{json.dumps(outcome)},"ms":{milliseconds:.3f},'
        f"{_static(step)}}}"
    )


# Insert new runs of one or several locked executions.


def insert(state: SegmentState, parts: list[str]) -> int:
    """Insert rows made by this module into the state's execution; return how many runs are new."""
    return len(insert_all(owned(state, parts), [state.context.execution_id]))


def insert_all(texts: Sequence[str], executions: Sequence[UUID]) -> set[UUID]:
    """Insert rows from `owned` for these executions in one statement; return the new runs' IDs."""
    if not texts:
        return set()
    rows_text = {
        "rows": f"[{','.join(texts)}]",
        "patience": config().patience,
        "executions": executions,
    }
    return {pk for (pk,) in statements.fetch("insert", rows_text)}


def owned(state: SegmentState, parts: Sequence[str]) -> list[str]:
    """Return rows made by this module, with the state's execution as their owner."""
    owner = (
        f'{{"execution":"{state.context.execution_id}","epoch":{state.context.epoch},'
        f'"priority":{state.context.priority},'
    )
    return [owner + part[1:] for part in parts]


# Release a held run: the run becomes pending again, and its holder is fenced.


NOBODY = Death()


def release(
    execution_id: UUID, run_id: UUID, token: int, death: Death = NOBODY, *, delay: float = 0
) -> list[tuple[Any, ...]]:
    """Set a held run back to pending; return its row for `resend`, or [] if it is no longer held.

    With a delay, do not send the row: the sweeper sends the run when it is due.
    """
    rows = statements.fetch(
        "release",
        {
            "execution": execution_id,
            "run": run_id,
            "token": token,
            "lost": death.lost,
            "crashed": death.crashed,
            "cause": death.cause,
            "suspect": death.suspect,
            "delay": delay,
            "patience": config().patience,
        },
    )
    return list(rows)
