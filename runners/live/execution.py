"""One execution and its runs, for the monitor."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.database import statements
from executions.live.feed import News
from executions.live.rows import Row, execution_row
from executions.states import FINAL
from runners.live.rows import MOST, runs_of, runs_since


class ExecutionFeed:
    """The states of executions and of all their runs."""

    def changes(self, ids: Sequence[UUID], since: int) -> dict[UUID, News]:
        """What of these executions and their runs was written since the cursor."""
        # Executions first: whatever ended before one of them is then among the runs.
        found = {row["id"]: row for row in _executions(ids, since)}
        runs = runs_since(ids, since)
        return {
            pk: _news(found.get(str(pk)), runs.get(pk, []))
            for pk in ids
            if str(pk) in found or pk in runs
        }

    def opening(self, pk: UUID, since: int | None) -> News | None:
        """The execution, and its runs or those written since the cursor."""
        execution = next(iter(_executions([pk], None)), None)
        if execution is None:
            return None
        runs = runs_of(pk) if since is None else runs_since([pk], since).get(pk, [])
        return _news(execution, runs)

    def told(self, news: News) -> dict[str, Any]:
        """`execution`, where it changed, and `runs`."""
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
    return [execution_row(values) for values in statements.fetch("watch_executions", params)]


def _by_time(run: Row) -> tuple[str, str]:
    return run["queuedAt"], run["id"]


EXECUTIONS = ExecutionFeed()
