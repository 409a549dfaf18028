"""Find in memory the partition of an execution's runs, so that statements can name it.

The partitions of each database are read again after ten seconds or `forget`. Partitions that ended
more than a day ago, or begin more than two days from now, are not named: a connection keeps a plan
of each statement for each named partition, and retention removes only older partitions. With
row-level security, no partition is named, because the policies belong to the table.
"""

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from executions.database.one_partition import PartitionedTable, register
from executions.database.routing import alias
from executions.database.statements import BoundStatement, run
from runners.partitions.layout import limits_of, quoted, table, time_of

KEPT_SECONDS = 10.0
OVER_SINCE, BEGINS_WITHIN = timedelta(days=1), timedelta(days=2)
PARTS = """
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid)
  FROM pg_inherits i
  JOIN pg_class c ON c.oid = i.inhrelid
  JOIN pg_class p ON p.oid = i.inhparent
 WHERE i.inhparent = to_regclass(%(table)s) AND p.relkind = 'p' AND NOT p.relrowsecurity
   AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
   AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')
"""


@dataclass(frozen=True, slots=True)
class NamedPartitions:
    """Partitions in the order of their first IDs, valid until `until` (by `time.monotonic()`)."""

    firsts: tuple[int, ...]
    ends: tuple[int, ...]
    names: tuple[str, ...]
    until: float

    def of(self, pk: UUID) -> str:
        """Return the name of the partition with an execution's runs; "" if none matches."""
        place = bisect_right(self.firsts, pk.int) - 1
        return self.names[place] if place >= 0 and pk.int < self.ends[place] else ""


_known: dict[str, NamedPartitions] = {}


def partition_of(ids: UUID | Sequence[UUID]) -> str:
    """Return the name of the partition with all these executions' runs; "" if there is none."""
    known = _known.get(alias())
    if known is None or known.until < time.monotonic():
        known = _known[alias()] = _read()
    if not known.names or not ids:
        return ""
    if isinstance(ids, UUID):
        return known.of(ids)
    found = {known.of(pk) for pk in ids}
    return found.pop() if len(found) == 1 else ""


def forget() -> None:
    """Forget the partitions, so that the next statement reads them again."""
    _known.clear()


def _read() -> NamedPartitions:
    now, found = datetime.now(UTC), []
    for name, bound in run(BoundStatement(PARTS, {"table": quoted(table())}, kept=True)):
        first, end = limits_of(bound)
        if end is not None and _is_recent(first, end, now):
            found.append((first.int if first else 0, end.int, quoted(name)))
    firsts, ends, names = zip(*sorted(found), strict=True) if found else ((), (), ())
    return NamedPartitions(firsts, ends, names, time.monotonic() + KEPT_SECONDS)


def _is_recent(first: UUID | None, end: UUID, now: datetime) -> bool:
    begins = None if first is None else time_of(first)
    return time_of(end) > now - OVER_SINCE and (begins is None or begins < now + BEGINS_WITHIN)


def connect() -> None:
    """Register the runs' table, so that statements can name its partitions."""
    register(PartitionedTable(table(), partition_of, forget))
