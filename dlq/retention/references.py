"""Delete many executions together, and delete or find the rows that refer to them.

PostgreSQL checks each foreign key for each deleted row: 13 checks of an execution take 73 µs, its
deletion 0.5 µs. A transaction whose user may set `session_replication_role` deletes without these
checks, and then checks each foreign key in one statement. PostgreSQL still checks statements that
insert references: they lock the execution, so they wait for the deletion and fail, or the check
here finds their row.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from executions.models import CronTick, ExecutionLabel, WorkflowExecution
from runners.models import EarlyCallback, Waiter

# Rows with a foreign key to an execution, which are deleted before it and its runs.
BELONGINGS: tuple[Any, ...] = (Waiter, EarlyCallback, CronTick, ExecutionLabel)
CASCADE, CHECKED = "c", "ar"
FOUND = """
SELECT c.conrelid::regclass::text, quote_ident(a.attname), c.confdeltype::text,
       c.conrelid = ANY(%(own)s::regclass[]), cardinality(c.conkey)
  FROM pg_constraint c
  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
 WHERE c.contype = 'f' AND c.conparentid = 0 AND c.confrelid = to_regclass(%(table)s)
 ORDER BY c.conname
"""
MAY_SKIP = """
SELECT has_parameter_privilege(current_user, 'session_replication_role', 'SET')
   AND NOT EXISTS (SELECT FROM pg_trigger t
                    WHERE t.tgrelid = to_regclass(%(table)s) AND NOT t.tgisinternal
                      AND t.tgtype & 8 <> 0)
"""


@dataclass(frozen=True, slots=True)
class ExecutionReference:
    """A foreign key to executions; `deleted` is true if its rows are deleted with the execution."""

    table: str
    column: str
    deleted: bool


@dataclass(frozen=True, slots=True)
class TakenExecutions:
    """Locked executions as SQL array literals: the roots, and descendants, each with its root."""

    roots: str
    of: str
    kin: str

    @property
    def ids(self) -> str:
        """Return the IDs of all these executions as an SQL array literal."""
        return self.roots if self.kin == "{}" else f"{self.roots[:-1]},{self.kin[1:]}"

    @property
    def low(self) -> str:
        """Return the smallest ID of these executions."""
        return min(self.roots[1:37], *self._kin)

    @property
    def high(self) -> str:
        """Return the largest ID of these executions."""
        return max(self.roots[-37:-1], *self._kin)

    @property
    def _kin(self) -> list[str]:
        return self.kin[1:-1].split(",") if self.kin != "{}" else [self.roots[1:37]]


class NotInBulk(Exception):
    """These executions cannot be deleted together; each family is deleted separately."""


def quoted(cursor: Any, model: Any) -> str:
    """Return the quoted name of a model's table."""
    return str(cursor.db.ops.quote_name(model._meta.db_table))


def delete(cursor: Any, taken: TakenExecutions, ids: str) -> int:
    """Delete locked executions and their dependent rows except runs; return how many executions.

    `ids` is an SQL array literal. Raises NotInBulk if other rows refer to an execution; the caller
    then rolls the transaction back.
    """
    table = quoted(cursor, WorkflowExecution)
    # The lock prevents the creation of triggers until the end of the transaction.
    cursor.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE")
    references = list(_references(cursor, table))
    with _without_checks(cursor, table):
        cursor.execute(f"DELETE FROM {table} WHERE id = ANY(%s::uuid[])", [ids])  # noqa: S608
        gone = int(cursor.rowcount)
    for one in references:
        _follow(cursor, table, one, taken)
    return gone


def _follow(cursor: Any, table: str, one: ExecutionReference, taken: TakenExecutions) -> None:
    """Delete the rows that refer to deleted executions. Raises NotInBulk if a row must be kept."""
    rows = (
        f"FROM {one.table} o WHERE o.{one.column} BETWEEN %s AND %s "
        f"AND NOT EXISTS (SELECT FROM {table} e WHERE e.id = o.{one.column})"
    )
    if one.deleted:
        cursor.execute(f"DELETE {rows}", [taken.low, taken.high])
        return
    cursor.execute(f"SELECT 1 {rows} LIMIT 1", [taken.low, taken.high])
    if cursor.fetchone() is not None:
        raise NotInBulk(f"{one.table}.{one.column}")


@contextmanager
def _without_checks(cursor: Any, table: str) -> Iterator[None]:
    """Skip foreign key checks in the block, if the role may do so and no delete trigger exists."""
    cursor.execute(MAY_SKIP, {"table": table})
    (may,) = cursor.fetchone()
    if may:
        cursor.execute("SET LOCAL session_replication_role = replica")
    yield
    if may:
        cursor.execute("SET LOCAL session_replication_role = origin")


def _references(cursor: Any, table: str) -> Iterator[ExecutionReference]:
    own = [quoted(cursor, model) for model in BELONGINGS]
    cursor.execute(FOUND, {"table": table, "own": own})
    for of, column, action, belongs, columns in cursor.fetchall():
        if columns != 1 or action not in CASCADE + CHECKED:
            raise NotInBulk(f"{of}.{column}")
        yield ExecutionReference(of, column, belongs or action == CASCADE)
