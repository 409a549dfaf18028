"""The live states that viewers of an execution, or of a workflow's executions, receive."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.database import statements
from executions.live.feed import News, Row, execution_row, row_of
from executions.models import WorkflowExecution
from executions.sealing.sealer import shown_text
from executions.states import FINAL
from runners.containers.child_executions import SUBWORKFLOW
from runners.statements import fetch as fetch_runs

# The data of runs that viewers receive: states, times and the start of the error, but no payloads.


# Maximum number of runs that are sent at once. If there are more, live and failed runs come first.
MOST = 5_000
_NAMES = (
    "id", "stepPath", "module", "attempt", "epoch", "superseded", "state", "waitsFor", "worker",
    "queue", "queuedAt", "startedAt", "finishedAt", "retryAfter", "durationMs", "outcome", "error",
    "errorType", "recoveries", "cachedFrom", "childId",
)  # fmt: skip


def runs_since(execution_ids: Sequence[UUID], since: int) -> dict[UUID, list[Row]]:
    """Return at most `MOST` + 1 runs per execution that were written since the cursor."""
    return _read_runs("watch_runs", {"ids": list(execution_ids), "since": str(since), "most": MOST})


def runs_of(execution_id: UUID) -> list[Row]:
    """Return at most `MOST` + 1 runs of an execution, the live and failed ones first."""
    found = _read_runs("watch_all_runs", {"execution": execution_id, "most": MOST})
    return found.get(execution_id, [])


def _read_runs(name: str, params: dict[str, Any]) -> dict[UUID, list[Row]]:
    found: dict[UUID, list[Row]] = {}
    for execution_id, *values in fetch_runs(name, params):
        row = row_of(_NAMES, values)
        row["error"] = shown_text(execution_id, row["error"], "error", row["stepPath"])
        found.setdefault(execution_id, []).append(row)
    _name_children(found)
    return found


def _name_children(found: dict[UUID, list[Row]]) -> None:
    """Add to finished runs the IDs of the children that they started. Uses at most one query.

    The `progress` of these runs contains no child ID, but each child's idempotency key contains the
    ID of the run that started it.
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


class ExecutionFeed:
    """The states of executions and of their runs."""

    def changes(self, ids: Sequence[UUID], since: int) -> dict[UUID, News]:
        """Return the changes to these executions and their runs since the cursor."""
        # Read the executions first, so that the runs include all that ended before their execution
        # ended.
        found = {row["id"]: row for row in _executions(ids, since)}
        runs = runs_since(ids, since)
        return {
            pk: _news(found.get(str(pk)), runs.get(pk, []))
            for pk in ids
            if str(pk) in found or pk in runs
        }

    def opening(self, pk: UUID, since: int | None) -> News | None:
        """Return an execution with its runs, or with the runs since the cursor; None if unknown."""
        execution = next(iter(_executions([pk], None)), None)
        if execution is None:
            return None
        runs = runs_of(pk) if since is None else runs_since([pk], since).get(pk, [])
        return _news(execution, runs)

    def told(self, news: News) -> dict[str, Any]:
        """Return the JSON with `runs`, and with `execution` if it changed."""
        execution = {"execution": news.executions[0]} if news.executions else {}
        return {**execution, "runs": news.runs}


def _news(execution: Row | None, runs: list[Row]) -> News:
    more = len(runs) > MOST
    return News(
        [execution] if execution else [],
        sorted(runs[:MOST], key=_by_time),
        more=more,
        ended=execution is not None and execution["state"] in FINAL,
    )


def _executions(ids: Sequence[UUID], since: int | None) -> list[Row]:
    params = {"ids": list(ids), "since": None if since is None else str(since)}
    return [_execution(values) for values in statements.fetch("watch_executions", params)]


def _execution(values: Sequence[Any]) -> Row:
    row = execution_row(values)
    row["errorMessage"] = shown_text(values[0], row["errorMessage"], "error_message")
    return row


def _by_time(run: Row) -> tuple[str, str]:
    return run["queuedAt"], run["id"]


EXECUTIONS = ExecutionFeed()


# The feed of a workflow's executions, for the list of executions.


# Number of a workflow's newest executions that are watched, and that a new viewer receives.
NEWEST, SHOWN = 500, 50


class WorkflowFeed:
    """The states of the newest executions of workflows."""

    def changes(self, ids: Sequence[UUID], since: int) -> dict[UUID, News]:
        """Return the changes to the newest executions since the cursor."""
        return _read_workflow(ids, since, NEWEST)

    def opening(self, pk: UUID, since: int | None) -> News | None:
        """Return the newest executions; with a cursor, only those written since the cursor."""
        if since is not None:
            return _read_workflow([pk], since, NEWEST).get(pk, News([], []))
        news = _read_workflow([pk], None, SHOWN + 1).get(pk, News([], []))
        return News(news.executions[-SHOWN:], [], more=len(news.executions) > SHOWN)

    def told(self, news: News) -> dict[str, Any]:
        """Return the JSON with `executions`, the oldest first."""
        return {"executions": news.executions}


def _read_workflow(ids: Sequence[UUID], since: int | None, newest: int) -> dict[UUID, News]:
    text = None if since is None else str(since)
    params = {"ids": list(ids), "since": text, "newest": newest}
    found: dict[UUID, News] = {}
    for values in statements.fetch("watch_workflows", params):
        found.setdefault(values[1], News([], [])).executions.append(_execution(values))
    return found


WORKFLOWS = WorkflowFeed()
