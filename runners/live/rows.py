"""A run as whoever watches sees it: states, times and the error's first words, no payloads."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.live.rows import Row, row_of
from executions.models import WorkflowExecution
from runners import statements
from runners.containers.lineage import SUBWORKFLOW

# Runs that are told at once; where there are more, live and failed ones come first.
MOST = 5_000
_NAMES = (
    "id", "stepPath", "module", "attempt", "epoch", "superseded", "state", "waitsFor", "worker",
    "queue", "queuedAt", "startedAt", "finishedAt", "retryAfter", "durationMs", "outcome", "error",
    "errorType", "recoveries", "cachedFrom", "childId",
)  # fmt: skip


def runs_since(execution_ids: Sequence[UUID], since: int) -> dict[UUID, list[Row]]:
    """The runs written since the cursor, at most `MOST` + 1 of each execution, by execution."""
    return _read("watch_runs", {"ids": list(execution_ids), "since": str(since), "most": MOST})


def runs_of(execution_id: UUID) -> list[Row]:
    """The runs of one execution, at most `MOST` + 1, those that matter most first."""
    found = _read("watch_whole", {"execution": execution_id, "most": MOST})
    return found.get(execution_id, [])


def _read(name: str, params: dict[str, Any]) -> dict[UUID, list[Row]]:
    found: dict[UUID, list[Row]] = {}
    for execution_id, *values in statements.fetch(name, params):
        found.setdefault(execution_id, []).append(row_of(_NAMES, values))
    _name_children(found)
    return found


def _name_children(found: dict[UUID, list[Row]]) -> None:
    """Name the children that nobody waits for as well; at most one query.

    Their ids are in no progress, but they were started under a key that names the run.
    """
    callers = {
        f"child:{row['id']}": row
        for rows in found.values()
        for row in rows
        if row["module"] == SUBWORKFLOW and row["childId"] is None and row["finishedAt"]
    }
    if not callers:
        return
    children = WorkflowExecution.objects.filter(
        parent_id__in=list(found), idempotency_key__in=list(callers)
    ).values_list("idempotency_key", "pk")
    for key, pk in children:
        callers[str(key)]["childId"] = str(pk)
