"""Lock a failure group without making failing steps wait.

The locks do not cover the key (`no_key`), so that dead letters can be added to a locked group.
"""

from collections.abc import Iterable
from uuid import UUID

from dlq.models import FailureGroup
from executions.database import connection
from executions.database.advisory_locks import AdvisoryLock
from executions.errors import NotFound, WrongState


def locked(group_id: UUID) -> FailureGroup:
    """Return the group, locked in the caller's transaction.

    Raises NotFound, or WrongState if the group is merged.
    """
    group = FailureGroup.objects.select_for_update(no_key=True).filter(pk=group_id).first()
    if group is None:
        raise NotFound(f"There is no failure group {group_id}.")
    if group.merged_into_id is not None:
        raise WrongState(
            f"Failure group {group_id} was merged into {group.merged_into_id}. Use that group.",
            "MERGED",
        )
    return group


def locked_all(group_ids: Iterable[UUID]) -> list[FailureGroup]:
    """Lock and return these groups in the order of their IDs, without those that were deleted."""
    rows = FailureGroup.objects.select_for_update(no_key=True).filter(pk__in=set(group_ids))
    return list(rows.order_by("pk"))


def keep_counters() -> None:
    """Acquire the counters' lock, which counting, merging, splitting and deleting groups require.

    The lock is held until the transaction ends.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [AdvisoryLock.FAILURE_GROUP_COUNTERS])


def try_counters() -> bool:
    """Acquire the lock of `keep_counters` only if it is free; return whether it was acquired."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(%s)", [AdvisoryLock.FAILURE_GROUP_COUNTERS]
        )
        row = cursor.fetchone()
    return bool(row and row[0])
