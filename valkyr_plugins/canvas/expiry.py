"""Check whether a task has expired (`expires`)."""

from datetime import datetime
from uuid import UUID

from executions.public.database import database_now


def is_past(expires: float | str, execution_id: UUID, step_path: str) -> bool:
    """Return whether the expiry time has passed. Raises ValueError for an invalid instant.

    A number counts the seconds after the step, or the delay before it, became ready.
    """
    now = database_now()
    if isinstance(expires, str):
        return now >= datetime.fromisoformat(expires)
    return (now - _queued_at(execution_id, step_path)).total_seconds() >= expires


def _queued_at(execution_id: UUID, step_path: str) -> datetime:
    from runners.public.models import Run

    task = step_path.rpartition(".")[0]
    rows = Run.objects.filter(execution_id=execution_id, step_path__in=(step_path, f"{task}.wait"))
    found: datetime = rows.order_by("queued_at").values_list("queued_at", flat=True)[0]
    return found
