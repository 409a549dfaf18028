"""Pause the workspace at the source: nothing starts, and steps that run get time to end."""

import time
from typing import Any
from uuid import UUID

from executions.models import WorkflowExecution
from runners.models import Run
from runners.moving import fence
from runners.moving.fence import Gate
from runners.moving.sessions import Session

DRAIN_SECONDS = 2.0
LOOK_SECONDS = 0.05
HELD = f"""
SELECT count(*) FROM {Run._meta.db_table} r JOIN {WorkflowExecution._meta.db_table} e
    ON e.id = r.execution_id
 WHERE e.workspace_id = %s AND e.finished_at IS NULL
   AND r.finished_at IS NULL AND r.state IN ('LEASED', 'RUNNING')
"""


def pause(session: Session, workspace: UUID) -> int:
    """Close the gate once running steps have ended, at the latest after two seconds.

    Return how many steps still ran: their results are rejected, and they run again in the target.
    Raises StillWriting if a transaction with writes does not end.
    """
    fence.set_gate(session, Gate.DRAINING)
    until = time.monotonic() + DRAIN_SECONDS
    while _held(session, workspace) and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    fence.set_gate(session, Gate.CLOSED)
    return _held(session, workspace)


def _held(session: Any, workspace: UUID) -> int:
    row = session.execute(HELD, [workspace]).fetchone()
    return int(row[0])
