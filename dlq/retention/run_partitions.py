"""Retention with a partitioned table of runs.

Runs are deleted with their partition. A partition is therefore kept until its end is older than the
shortest period plus a day. If few of its executions must be kept then, it is *released*: the other
executions are deleted together (`bulk`) without their runs, the runs of the kept executions are
moved, and the partition is dropped. If many must be kept, the runs are deleted row by row, as in a
table without partitions.
"""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from dlq import statements
from dlq.retention.periods import RetentionPeriods
from dlq.retention.terms import DAY, parameters, youngest_end
from runners.partitions import upkeep
from runners.partitions.layout import PLAIN, PartitionLayout, RunPartition, layout
from runners.partitions.short_locks import TableBusy

log = logging.getLogger(__name__)
# The time after a partition's end by which most executions that were running then have ended.
GRACE = DAY
NIL = UUID(int=0)


@dataclass(slots=True)
class RunPartitions:
    """The partitions in one pass of retention, and which of them are released."""

    wanted: RetentionPeriods
    layout: PartitionLayout = PLAIN
    _released: dict[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, wanted: RetentionPeriods) -> "RunPartitions":
        """Return the partitions for these periods.

        Periods that apply only to some executions, such as those of one workspace, never release a
        partition.
        """
        scope = wanted.scope
        partial = scope.workspace_id or scope.workflow_id or scope.states
        return cls(wanted, PLAIN if partial else layout())

    def due(self, roots: dict[UUID, datetime]) -> dict[UUID, datetime]:
        """Return the roots to delete now; others wait until their partition's period has passed."""
        if not self.layout.partitioned:
            return roots
        return {pk: at for pk, at in roots.items() if not self._waits(self._of(pk))}

    def without_runs(self, ids: list[UUID]) -> list[UUID]:
        """Return the IDs of those executions whose runs are deleted row by row."""
        if not self.layout.partitioned:
            return ids
        return [pk for pk in ids if not self.is_released(self._of(pk))]

    def drop(self) -> list[str]:
        """Drop released partitions, the oldest first, and return their names."""
        dropped: list[str] = []
        if not self.layout.partitioned:
            return dropped
        try:
            upkeep.drop_detached()
            for one in self.layout.ranges:
                if upkeep.is_long(one):
                    continue
                if not self.is_released(one) or not upkeep.drop(one):
                    break
                dropped.append(one.name)
        except TableBusy as error:
            log.warning("partitions are dropped later: %s", error)
        return dropped

    def released(self) -> Iterator[RunPartition]:
        """Yield the released partitions, the oldest first."""
        return (one for one in self.layout.ranges if self.is_released(one))

    def is_released(self, partition: RunPartition | None) -> bool:
        """Return whether the partition's period has passed, and few executions must be kept."""
        if partition is None or partition.default or upkeep.is_long(partition):
            return False
        if partition.name not in self._released:
            self._released[partition.name] = self._is_over(partition) and self._few(partition)
        return self._released[partition.name]

    def _waits(self, partition: RunPartition | None) -> bool:
        if partition is None or partition.default or upkeep.is_long(partition):
            return False
        return not self._is_over(partition)

    def _is_over(self, partition: RunPartition) -> bool:
        youngest = youngest_end(self.wanted.terms, self.wanted.now)
        ends = partition.ends
        return youngest is not None and ends is not None and ends + GRACE <= youngest

    def _few(self, partition: RunPartition) -> bool:
        most = upkeep.MOST_EXECUTIONS + 1
        told = parameters(self.wanted.terms, self.wanted.scope, self.wanted.now)
        span = {"first": partition.first or NIL, "end": partition.end, "most": most}
        stays = [pk for (pk,) in statements.fetch("executions_kept_in_partition", told | span)]
        return len(stays) < most and upkeep.count_runs(stays) <= upkeep.MOST_RUNS

    def _of(self, execution_id: UUID) -> RunPartition | None:
        for one in self.layout.ranges:
            if one.end is not None and (one.first or NIL) <= execution_id < one.end:
                return one
        return None


def add_ahead() -> int:
    """Add future partitions; return how many.

    If the table is in use, return 0; the next pass adds them.
    """
    try:
        return upkeep.add_ahead()
    except TableBusy as error:
        log.warning("partitions are added later: %s", error)
        return 0
