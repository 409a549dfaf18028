"""Delete the executions of a released partition together, thousands in each transaction.

Each transaction locks executions first and then asks which of them must be kept, so it sees all
earlier commits. Families are deleted as a whole. A family with anything unusual, such as a fork or
a dead letter, is left to `executions.walk`, and decided individually.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, OperationalError
from django.db.models.expressions import RawSQL

from dlq import statements
from dlq.retention import references
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.periods import RetentionPeriods
from dlq.retention.references import NotInBulk, TakenExecutions
from dlq.retention.terms import parameters
from dlq.retention.unstored import not_stored
from executions.database import connection
from executions.database.time_limits import is_locked
from executions.models import WorkflowExecution
from runners.partitions.layout import RunPartition
from runners.partitions.short_locks import WAIT

NIL = UUID(int=0)
TIMES = 20  # more rows per batch: a row takes about 1/20 of its time in `executions`

MOST_IDLE = 3  # maximum number of transactions without a deleted execution


@dataclass(frozen=True, slots=True)
class BulkResult:
    """The number of deleted executions, and the times at which the first and the last ended."""

    number: int = 0
    first: datetime | None = None
    last: datetime | None = None


NOTHING = BulkResult()


@dataclass(slots=True)
class BulkWalk:
    """A walk through the executions of a partition, in the order of their IDs."""

    partition: RunPartition
    wanted: RetentionPeriods
    before: datetime
    after: UUID | None

    @classmethod
    def of(cls, partition: RunPartition, wanted: RetentionPeriods, before: datetime) -> "BulkWalk":
        """Return a walk at the beginning of the partition."""
        first = partition.first or NIL
        return cls(partition, wanted, before, UUID(int=max(0, first.int - 1)))

    def delete_some(self, most: int) -> BulkResult:
        """Of the next `most` executions, delete those that may be deleted; advance `after`."""
        place = {"after": self.after, "end": self.partition.end, "before": self.before}
        told = place | {"chunk": most, "most": most}
        ((self.after, roots, of, kin),) = statements.fetch("prune_lock_families", told)
        if roots is None:
            return NOTHING
        taken = TakenExecutions(roots, of or "{}", kin or "{}")
        gone, first, last = self._sure(taken)
        if gone is None:
            return NOTHING
        with connection.cursor() as cursor:
            return BulkResult(references.delete(cursor, taken, gone), first, last)

    def _sure(self, taken: TakenExecutions) -> tuple[Any, ...]:
        """Return the executions that may be deleted, or None, and their first and last end time."""
        told = parameters(self.wanted.terms, self.wanted.scope, self.wanted.now)
        told |= {"first": self.partition.first or NIL, "end": self.partition.end}
        told |= {"roots": taken.roots, "of": taken.of, "kin": taken.kin, "before": self.before}
        told |= {"low": taken.low, "high": taken.high, "kept": list(_unstored(taken.ids))}
        (found,) = statements.fetch("prune_deletable", told)
        return found


def clear(
    partition: RunPartition,
    wanted: RetentionPeriods,
    before: datetime,
    pace: PruningPace,
    tally: PruningTally,
) -> None:
    """Delete a released partition's executions that may be deleted, until the time limit.

    Each call begins at the first execution. If three transactions in a row delete nothing, for
    example because the archive is behind, the rest is left to `executions.walk`.
    """
    walk, idle = BulkWalk.of(partition, wanted, before), 0
    while walk.after is not None and idle < MOST_IDLE:
        if pace.over:
            tally.more = True
            return
        idle += 1
        with _or_later():
            with pace.transaction():
                done = _some(walk, TIMES * pace.batch)
            idle = 0 if done.number else idle
            tally.rows += done.number
            tally.span(done.first, done.last)


def _some(walk: BulkWalk, most: int) -> BulkResult:
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{WAIT}'")
    return walk.delete_some(most)


def _unstored(ids: str) -> set[UUID]:
    listed = RawSQL("SELECT unnest(%s::uuid[])", [ids])
    return not_stored(WorkflowExecution.objects.filter(pk__in=listed))


@contextmanager
def _or_later() -> Iterator[None]:
    """Leave the block's executions to the walk if other rows refer to them or rows are locked."""
    try:
        yield
    except (NotInBulk, IntegrityError):
        return
    except OperationalError as error:
        if not is_locked(error):
            raise
