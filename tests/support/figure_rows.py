"""Executions that ended at chosen times."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from executions.database.clock import first_id_at
from executions.database.ids import uuid7
from executions.models import Workflow, WorkflowExecution
from runners.models import Run
from tests.support import admin_rows as rows


def ended(
    of: Workflow, state: str, at: datetime, *, took: float = 1.0, waited: float = 0.01
) -> WorkflowExecution:
    """Create an execution that ended at `at`, after `took` seconds, with one run that waited
    `waited` seconds.
    """
    started = at - timedelta(seconds=took)
    made = WorkflowExecution.objects.create(
        id=_id_at(started - timedelta(seconds=waited)),
        workspace_id=of.workspace_id,
        workflow=of,
        version=of.latest_version,
        state=state,
        created_at=started - timedelta(seconds=waited),
        started_at=started,
        finished_at=at,
        error_message="charge.main failed" if state == "FAILED" else "",
    )
    run(made, at, "DLQ" if state == "FAILED" else "SUCCESS", waited=waited)
    return made


def run(
    of: WorkflowExecution, at: datetime, state: str = "SUCCESS", *, waited: float = 0.01,
    **values: Any,
) -> Run:  # fmt: skip
    """Create a run that ended at `at`; its id is as old as the run."""
    began = of.started_at or at
    queued = began - timedelta(seconds=waited)
    return rows.run(
        of,
        state=state,
        id=_id_at(queued),
        **({"queued_at": queued, "started_at": began, "finished_at": at} | values),
    )


def _id_at(at: datetime) -> UUID:
    return UUID(int=first_id_at(at).int | (uuid7().int & ((1 << 62) - 1)))
