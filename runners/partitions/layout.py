"""Read the partitions of the runs' table from PostgreSQL's catalogue."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from executions.database import connection
from runners.models import Run

MARK = "valkyr partitions "
BOUND = re.compile(r"FROM \((?P<first>[^)]+)\) TO \((?P<end>[^)]+)\)")
TABLE = """
SELECT c.relkind = 'p', coalesce(obj_description(c.oid, 'pg_class'), '')
  FROM pg_class c WHERE c.oid = to_regclass(%s)
"""
PARTS = """
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid), greatest(c.reltuples, 0)::bigint,
       pg_total_relation_size(c.oid)
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = to_regclass(%s)
"""


@dataclass(frozen=True, slots=True)
class RunPartition:
    """A partition: the IDs of executions from `first` up to, but not including, `end`.

    Without `first` it begins with the smallest ID. The default partition has neither `first` nor
    `end`: it holds the executions that belong to no other partition. `rows` is PostgreSQL's
    estimate of the number of rows.
    """

    name: str
    first: UUID | None
    end: UUID | None
    rows: int
    bytes: int

    @property
    def default(self) -> bool:
        """Return whether this is the default partition."""
        return self.end is None

    @property
    def begins(self) -> datetime | None:
        """Return the time at which the partition begins; None if it has no lower limit."""
        return None if self.first is None else time_of(self.first)

    @property
    def ends(self) -> datetime | None:
        """Return the time at which the partition ends; None for the default partition."""
        return None if self.end is None else time_of(self.end)

    @property
    def open_start(self) -> bool:
        """Return whether the partition holds all executions before its end."""
        return self.first is None and self.end is not None


@dataclass(frozen=True, slots=True)
class PartitionLayout:
    """The partitions of the runs' table, if there are any, and the data to convert them back.

    `foreign_keys` are the foreign keys that were removed: (table, name, definition). `days` is the
    length of new partitions.
    """

    partitioned: bool
    partitions: tuple[RunPartition, ...]
    foreign_keys: tuple[tuple[str, str, str], ...]
    days: int = 1

    @property
    def ranges(self) -> tuple[RunPartition, ...]:
        """Return the partitions except the default partition, the oldest first."""
        return tuple(one for one in self.partitions if not one.default)

    @property
    def default(self) -> RunPartition | None:
        """Return the default partition, or None if there is none."""
        return next((one for one in self.partitions if one.default), None)

    @property
    def last_end(self) -> datetime | None:
        """Return the time at which the newest partition ends; None if no partition has limits."""
        return max((one.ends for one in self.ranges if one.ends), default=None)


PLAIN = PartitionLayout(False, (), ())


def table() -> str:
    """Return the name of the runs' table."""
    return Run._meta.db_table


def layout() -> PartitionLayout:
    """Return the current layout of the runs' table."""
    with connection.cursor() as cursor:
        cursor.execute(TABLE, [quoted(table())])
        row = cursor.fetchone()
        if row is None:
            return PLAIN
        partitioned, comment = row
        cursor.execute(PARTS, [quoted(table())])
        parts = [_partition(*part) for part in cursor.fetchall()] if partitioned else []
    parts.sort(key=lambda one: (one.default, one.end or UUID(int=0)))
    return PartitionLayout(partitioned, tuple(parts), *_noted(comment))


def is_partitioned() -> bool:
    """Return whether the runs' table is partitioned."""
    return layout().partitioned


def note(foreign_keys: tuple[tuple[str, str, str], ...], days: int) -> str:
    """Return the table's comment: the removed foreign keys, and the partitions' length in days."""
    return MARK + json.dumps({"foreignKeys": foreign_keys, "days": days})


def time_of(pk: UUID) -> datetime:
    """Return the time that a UUIDv7 contains."""
    return datetime.fromtimestamp((pk.int >> 80) / 1000, UTC)


def quoted(name: str) -> str:
    """Return a name quoted for SQL."""
    return connection.ops.quote_name(name)


def limits_of(bound: str) -> tuple[UUID | None, UUID | None]:
    """Return the first ID and the end of a partition, from its bound; None for a missing limit."""
    found = BOUND.search(bound)
    return (None, None) if found is None else (_limit(found["first"]), _limit(found["end"]))


def _partition(name: str, bound: str, rows: int, size: int) -> RunPartition:
    return RunPartition(name, *limits_of(bound), rows, size)


def _limit(text: str) -> UUID | None:
    return None if text == "MINVALUE" else UUID(text.strip("'"))


def _noted(comment: str) -> tuple[tuple[tuple[str, str, str], ...], int]:
    if not comment.startswith(MARK):
        return (), 1
    found: dict[str, Any] = json.loads(comment[len(MARK) :])
    keys = tuple((one, name, definition) for one, name, definition in found["foreignKeys"])
    return keys, found["days"]
