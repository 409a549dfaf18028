"""Convert the runs' table to partitions while workers run, and back to one table.

`turn_on` copies no row: the existing table becomes the first partition. Each of its steps can be
repeated, so a call after a crash continues. `turn_off` copies all rows except those of the largest
partition, and blocks the workers while it copies.

PostgreSQL allows no unique key on `id` alone in a partitioned table, so no foreign key can refer to
`id`. The foreign keys from and to the table are removed, and their definitions are kept in the
table's comment until `turn_off`. `orphans` finds the rows that they would have rejected.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.utils import IntegrityError

from executions.database import connection
from executions.database.advisory_locks import AdvisoryLock, alone
from executions.database.clock import database_now, first_id_at
from executions.database.row_policies import policy_of
from executions.errors import ValkyrError
from runners.models import Run
from runners.partitions import orphans
from runners.partitions.layout import PartitionLayout, RunPartition, layout, note, quoted, table
from runners.partitions.short_locks import in_short_locks

# Minimum time until the first partition's end: enough for differences between clocks and for waits.
LEAST_AHEAD = timedelta(days=1)
RANGE = "run_before_partitions"
KEPT = "INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION"
INDEX = re.compile(
    r'^(CREATE (?:UNIQUE )?INDEX) (?:"[^"]+"|\S+) ON (?:ONLY )?(?:"[^"]+"|\S)+ USING'
)
FOREIGN_KEYS = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid)
  FROM pg_constraint
 WHERE contype = 'f' AND conparentid = 0
   AND (conrelid = to_regclass(%(table)s) OR confrelid = to_regclass(%(table)s))
 ORDER BY conname
"""
INDEXES = """
SELECT c.relname, pg_get_indexdef(c.oid), i.indisprimary,
       (SELECT p.relname FROM pg_inherits h JOIN pg_class p ON p.oid = h.inhparent
         WHERE h.inhrelid = c.oid)
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = to_regclass(%s)
 ORDER BY c.relname
"""
TRIGGERS = "SELECT tgname FROM pg_trigger WHERE tgrelid = to_regclass(%s) AND NOT tgisinternal"
GRANTS = """
SELECT a.privilege_type, CASE WHEN a.grantee = 0 THEN 'PUBLIC'
                              ELSE quote_ident(pg_get_userbyid(a.grantee)) END,
       a.is_grantable
  FROM pg_class c CROSS JOIN LATERAL aclexplode(c.relacl) a
 WHERE c.oid = to_regclass(%s)
"""
OWNER = """
SELECT quote_ident(pg_get_userbyid(relowner)), relrowsecurity,
       coalesce(array_to_string(reloptions, ', '), '')
  FROM pg_class WHERE oid = to_regclass(%s)
"""
VIEWS = """
SELECT DISTINCT v.oid::regclass::text, pg_get_viewdef(v.oid),
       coalesce(array_to_string(v.reloptions, ', '), ''), v.relkind
  FROM pg_depend d
  JOIN pg_rewrite w ON w.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
  JOIN pg_class v ON v.oid = w.ev_class
 WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass(%s) AND v.oid <> d.refobjid
"""


class NotConvertible(ValkyrError):
    """The runs' table cannot be converted now; the message gives the reason."""

    code = "not_convertible"


def turn_on(days: int = 1) -> bool:
    """Partition the runs' table; return False if it is partitioned already.

    `upkeep.add_ahead` later adds partitions of `days` days. Raises NotConvertible or TableBusy.
    """
    with alone(AdvisoryLock.PARTITIONS) as held:
        if not held:
            raise NotConvertible("Another process changes the partitions now. Try again later.")
        if layout().partitioned:
            return False
        _refuse_what_stays_behind()
        end = _boundary()
        _bound(end)
        _remove_foreign_keys(days)
        in_short_locks(lambda cursor: _partition(cursor, end, days))
    return True


def _refuse_what_stays_behind() -> None:
    with connection.cursor() as cursor:
        cursor.execute(TRIGGERS, [quoted(table())])
        triggers = [name for (name,) in cursor.fetchall()]
        cursor.execute(VIEWS, [quoted(table())])
        stored = [name for name, _, _, kind in cursor.fetchall() if kind == "m"]
    if triggers or stored:
        what = f"trigger {triggers[0]}" if triggers else f"materialized view {stored[0]}"
        raise NotConvertible(
            f"The {what} of another program depends on the table {table()}. Drop it, convert the "
            "table, and create it again."
        )


def _boundary() -> datetime:
    """Return the first midnight (UTC) that is more than a day away."""
    day = (database_now() + LEAST_AHEAD).astimezone(UTC)
    return day.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)


def _bound(end: datetime) -> None:
    """Add and validate a constraint that all runs belong to the first partition; writes continue.

    PostgreSQL then reads no rows under `_partition`'s lock. Raises NotConvertible or TableBusy.
    """
    name, limit = quoted(table()), first_id_at(end)

    def add(cursor: Any) -> None:
        cursor.execute(f"ALTER TABLE {name} DROP CONSTRAINT IF EXISTS {RANGE}")
        cursor.execute(
            f"ALTER TABLE {name} ADD CONSTRAINT {RANGE} CHECK (execution_id < '{limit}') NOT VALID"
        )

    in_short_locks(add)
    try:
        in_short_locks(
            lambda cursor: cursor.execute(f"ALTER TABLE {name} VALIDATE CONSTRAINT {RANGE}"),
            seconds=0,
        )
    except IntegrityError as error:
        _unbound()
        raise NotConvertible(
            f"Some runs belong to executions whose ids are later than {end:%Y-%m-%d %H:%M} UTC: a "
            "clock was wrong. Partition the table after that time."
        ) from error


def _unbound() -> None:
    name = quoted(table())
    in_short_locks(
        lambda cursor: cursor.execute(f"ALTER TABLE {name} DROP CONSTRAINT IF EXISTS {RANGE}")
    )


def _remove_foreign_keys(days: int) -> None:
    """Remove the foreign keys from and to the table, each in a separate transaction."""
    with connection.cursor() as cursor:
        cursor.execute(FOREIGN_KEYS, {"table": quoted(table())})
        found = cursor.fetchall()
    for of, name, definition in found:
        kept = (*layout().foreign_keys, (of, name, definition))

        def remove(cursor: Any, of: str = of, name: str = name, kept: Any = kept) -> None:
            cursor.execute(f"ALTER TABLE {of} DROP CONSTRAINT {name}")
            _comment(cursor, note(kept, days))

        in_short_locks(remove)


def _comment(cursor: Any, text: str) -> None:
    literal = "NULL" if not text else "'" + text.replace("'", "''") + "'"
    cursor.execute(f"COMMENT ON TABLE {quoted(table())} IS {literal}")


def _partition(cursor: Any, end: datetime, days: int) -> None:
    """Replace the table with a partitioned table whose first partition is the existing table."""
    name, first = table(), f"{table()}_first"
    cursor.execute(f"LOCK TABLE {quoted(name)} IN ACCESS EXCLUSIVE MODE")
    kept = note(layout().foreign_keys, days)
    facts = _facts(cursor, name)
    cursor.execute(INDEXES, [quoted(name)])
    indexes = cursor.fetchall()
    cursor.execute(f"ALTER TABLE {quoted(name)} RENAME TO {quoted(first)}")
    for index, *_ in indexes:
        cursor.execute(f"ALTER INDEX {quoted(index)} RENAME TO {quoted(of_first(index))}")
    cursor.execute(
        f"CREATE TABLE {quoted(name)} (LIKE {quoted(first)} {KEPT}) "
        "PARTITION BY RANGE (execution_id)"
    )
    cursor.execute(f"ALTER TABLE {quoted(name)} DROP CONSTRAINT {RANGE}")
    for index, definition, primary, _ in indexes:
        if not primary:
            cursor.execute(index_of(definition, index, name))
    limit = first_id_at(end)
    cursor.execute(
        f"ALTER TABLE {quoted(name)} ATTACH PARTITION {quoted(first)} "
        f"FOR VALUES FROM (MINVALUE) TO ('{limit}')"
    )
    cursor.execute(f"ALTER TABLE {quoted(first)} DROP CONSTRAINT {RANGE}")
    cursor.execute(
        f"CREATE TABLE {quoted(f'{name}_default')} PARTITION OF {quoted(name)} DEFAULT"
        + (f" WITH ({facts.options})" if facts.options else "")
    )
    cursor.execute(f"ALTER TABLE {quoted(f'{name}_default')} ADD PRIMARY KEY (id)")
    _comment(cursor, kept)
    facts.give(cursor, name)


def of_first(index: str) -> str:
    """Return the name that an index of the first partition gets."""
    return f"{index[:57]}_first"


def index_of(definition: str, index: str, of: str) -> str:
    """Return an index's `definition`, changed to create the index `index` on the table `of`."""
    made, count = INDEX.subn(rf"\1 {quoted(index)} ON {quoted(of)} USING", definition)
    assert count == 1, definition
    return made


class TableFacts:
    """A table's owner, row security, options, grants and views, before a new table replaces it."""

    def __init__(self, cursor: Any, name: str) -> None:
        """Read the facts about the table `name`."""
        cursor.execute(OWNER, [quoted(name)])
        self.owner, self.row_security, self.options = cursor.fetchone()
        cursor.execute(GRANTS, [quoted(name)])
        self.grants = cursor.fetchall()
        cursor.execute(VIEWS, [quoted(name)])
        self.views = cursor.fetchall()

    def give(self, cursor: Any, name: str) -> None:
        """Give the owner, grants, policies and views to the table with the original name."""
        of = quoted(name)
        cursor.execute(f"ALTER TABLE {of} OWNER TO {self.owner}")
        for privilege, role, grantable in self.grants:
            also = " WITH GRANT OPTION" if grantable else ""
            if role != self.owner:
                cursor.execute(f"GRANT {privilege} ON {of} TO {role}{also}")
        if self.row_security and (policy := policy_of(Run)) is not None:
            for statement in policy.statements():
                cursor.execute(statement)
        for view, query, options, _ in self.views:
            kept = f" WITH ({options})" if options else ""
            cursor.execute(f"CREATE OR REPLACE VIEW {view}{kept} AS {query}")


def _facts(cursor: Any, name: str) -> TableFacts:
    return TableFacts(cursor, name)


# Convert the partitions back to one table.


def copy_rows(cursor: Any, source: str, target: str, where: str = "true", *given: Any) -> None:
    """Copy the rows that match `where` from one table of runs into another."""
    columns = ", ".join(quoted(str(field.column)) for field in Run._meta.concrete_fields)
    cursor.execute(
        f"INSERT INTO {quoted(target)} ({columns}) "  # noqa: S608 - quoted names
        f"SELECT {columns} FROM {quoted(source)} WHERE {where}",
        list(given),
    )


def rows_to_copy() -> int:
    """Return about how many rows `turn_off` copies: all except those of the largest partition."""
    return sum(one.rows for one in _by_size(layout())[:-1])


def _by_size(of: PartitionLayout) -> list[RunPartition]:
    """Return the partitions, the largest last: it becomes the table, so its rows stay in place."""
    return sorted(of.partitions, key=lambda one: (one.bytes, one.name))


def turn_off() -> bool:
    """Convert the partitions to one table with foreign keys; return False if that is done already.

    Workers wait until all rows are copied. Runs without an execution are deleted, because the
    foreign key would reject them. A call after a crash continues. Raises NotConvertible or
    TableBusy.
    """
    with alone(AdvisoryLock.PARTITIONS) as held:
        if not held:
            raise NotConvertible("Another process changes the partitions now. Try again later.")
        done = layout().partitioned
        if done:
            in_short_locks(_join, seconds=0)
        if not done and not layout().foreign_keys:
            return False
        _unbound()
        orphans.delete_runs()
        _return_foreign_keys()
    return True


def _join(cursor: Any) -> None:
    name, old = table(), f"{table()}_partitioned"
    cursor.execute(f"LOCK TABLE {quoted(name)} IN ACCESS EXCLUSIVE MODE")
    now = layout()
    facts = _facts(cursor, name)
    *others, largest = _by_size(now)
    cursor.execute(INDEXES, [quoted(largest.name)])
    indexes = cursor.fetchall()
    for one in now.partitions:
        cursor.execute(f"ALTER TABLE {quoted(name)} DETACH PARTITION {quoted(one.name)}")
    for one in others:
        copy_rows(cursor, one.name, largest.name)
        cursor.execute(f"DROP TABLE {quoted(one.name)}")
    cursor.execute(f"ALTER TABLE {quoted(name)} RENAME TO {quoted(old)}")
    cursor.execute(f"ALTER TABLE {quoted(largest.name)} RENAME TO {quoted(name)}")
    _comment(cursor, note(now.foreign_keys, now.days))
    facts.give(cursor, name)
    cursor.execute(f"DROP TABLE {quoted(old)}")
    for index, _, primary, usual in indexes:
        own = f"{name}_pkey" if primary else usual
        if own and own != index:
            cursor.execute(f"ALTER INDEX {quoted(index)} RENAME TO {quoted(own)}")


def _return_foreign_keys() -> None:
    """Create the foreign keys again: new rows are checked immediately, existing rows afterwards."""
    for of, name, definition in layout().foreign_keys:
        _return_foreign_key(of, name, definition)


def _return_foreign_key(of: str, name: str, definition: str) -> None:
    rest = tuple(one for one in layout().foreign_keys if one[:2] != (of, name))

    def add(cursor: Any) -> None:
        cursor.execute(f"ALTER TABLE {of} DROP CONSTRAINT IF EXISTS {name}")
        cursor.execute(f"ALTER TABLE {of} ADD CONSTRAINT {name} {definition} NOT VALID")

    def validate(cursor: Any) -> None:
        cursor.execute(f"ALTER TABLE {of} VALIDATE CONSTRAINT {name}")

    in_short_locks(add)
    try:
        in_short_locks(validate, seconds=0)
    except IntegrityError as error:
        raise NotConvertible(
            f"The foreign key {name} of {of} rejects existing rows: {error}. Delete these rows "
            "and repeat the command."
        ) from error
    in_short_locks(lambda cursor: _comment(cursor, note(rest, 1) if rest else ""))
