"""Replace the partitioned table in a statement with the partition that holds the statement's rows.

If a statement names the partitioned table, a cached plan names all partitions. PostgreSQL locks all
of them and counts their costs, so it plans the statement again at each call. A statement that names
one partition costs as much as one on a plain table. The owner of the table registers how partitions
are found. The line `--! one partition: ` marks statements whose rows are all in one partition.

The name of a removed partition must no longer exist, so that a statement with this name fails
before it reads or writes anything, and is repeated with the whole table. A statement that follows
others in an open transaction cannot be repeated, so it names the whole table.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from psycopg.errors import UndefinedTable


@dataclass(frozen=True, slots=True)
class PartitionedTable:
    """A table that can be partitioned.

    `find` returns the name of the partition with the rows of the given IDs (one or several); "" if
    the partition is unknown. After `forget`, `find` reads the partitions again.
    """

    name: str
    find: Callable[[Any], str]
    forget: Callable[[], None]


_tables: list[PartitionedTable] = []  # at most one


def register(table: PartitionedTable) -> None:
    """Register a table in which statements can name a partition; it replaces an earlier table."""
    _tables[:] = [table]


def named_in(text: str, ids: Any) -> str:
    """Return the text of a statement, with the partition of these IDs in place of the table.

    Without a known partition, return the text unchanged.
    """
    for table in _tables:
        if partition := table.find(ids):
            return _replaced(text, table.name, partition)
    return text


def is_gone(error: Exception) -> bool:
    """Return whether the error reports a missing table; if so, forget the known partitions."""
    if not isinstance(error.__cause__, UndefinedTable):
        return False
    for table in _tables:
        table.forget()
    return True


@lru_cache(maxsize=1_024)
def _replaced(text: str, table: str, partition: str) -> str:
    return re.sub(rf"\b{re.escape(table)}\b", partition, text)
