"""The executions of a workflow, for its list."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.database import statements
from executions.live.feed import News
from executions.live.rows import execution_row

# So many of a workflow's newest executions are watched, and shown to who comes.
NEWEST, SHOWN = 500, 50


class WorkflowFeed:
    """The states of the newest executions of workflows."""

    def changes(self, ids: Sequence[UUID], since: int) -> dict[UUID, News]:
        """What of the newest executions was written since the cursor."""
        return _read(ids, since, NEWEST)

    def opening(self, pk: UUID, since: int | None) -> News | None:
        """The newest executions, or those written since the cursor."""
        if since is not None:
            return _read([pk], since, NEWEST).get(pk, News([], []))
        news = _read([pk], None, SHOWN + 1).get(pk, News([], []))
        return News(news.executions[-SHOWN:], [], more=len(news.executions) > SHOWN)

    def told(self, news: News) -> dict[str, Any]:
        """`executions`, the oldest first."""
        return {"executions": news.executions}


def _read(ids: Sequence[UUID], since: int | None, newest: int) -> dict[UUID, News]:
    text = None if since is None else str(since)
    params = {"ids": list(ids), "since": text, "newest": newest}
    found: dict[UUID, News] = {}
    for values in statements.fetch("watch_workflows", params):
        found.setdefault(values[1], News([], [])).executions.append(execution_row(values))
    return found


WORKFLOWS = WorkflowFeed()
