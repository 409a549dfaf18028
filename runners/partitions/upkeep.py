"""Add partitions for the next days, and remove the oldest partitions.

An execution can always start: runs of a day without a partition go to the default partition. A day
whose executions are already in the default partition gets no other partition; retention deletes
their rows one by one, as in a table without partitions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from executions.database import connection
from executions.database.clock import database_now, first_id_at
from executions.database.names import named
from runners.partitions.layout import PartitionLayout, RunPartition, layout, quoted, table, time_of
from runners.partitions.short_locks import TableBusy, in_short_locks
from runners.partitions.switching import KEPT, copy_rows

DAY = timedelta(days=1)
MARGIN = timedelta(days=2)
AHEAD, LEAST_AHEAD = 14, 3  # days
SOON = 8  # attempts of the periodic duty; the next run tries again
MAY_SKIP_CHECKS = """
SELECT has_parameter_privilege(current_user, 'session_replication_role', 'SET'),
       quote_ident(current_user)
"""
NEWEST_IN = "SELECT execution_id FROM ONLY {name} WHERE execution_id >= %s ORDER BY 1 DESC LIMIT 1"
OPTIONS = """
SELECT coalesce(array_to_string(c.reloptions, ', '), '')
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
 WHERE i.inhparent = to_regclass(%s) AND c.reloptions IS NOT NULL
 ORDER BY c.oid DESC LIMIT 1
"""
EXECUTIONS_IN = """
SELECT e.id FROM executions_workflowexecution e
 WHERE e.id >= %(first)s AND e.id < %(end)s
 LIMIT %(most)s
"""
RUNS_OF = """
SELECT count(*) FROM (SELECT FROM runners_run WHERE execution_id = ANY(%(ids)s) LIMIT %(most)s) r
"""
NIL = UUID(int=0)


def add_ahead(*, attempts: int = SOON) -> int:
    """Add partitions up to 14 days ahead; return how many.

    Does nothing for a table without partitions. Raises TableBusy if the table remains in use.
    """
    now = layout()
    last = now.last_end
    if not now.partitioned or last is None:
        return 0
    begins, made = max(last, _free_from(now.default, last)), 0
    until = database_now() + AHEAD * DAY
    while begins < until:
        ends = begins + now.days * DAY
        add(begins, ends, attempts=attempts)
        begins, made = ends, made + 1
    return made


def add(begins: datetime, ends: datetime, *, attempts: int = SOON) -> str:
    """Add a partition for the executions of this period; return its name.

    Attaching the new, empty table locks the default partition, but not the whole runs' table. The
    name contains both limits, so a process with an outdated list of partitions never confuses two
    ranges.
    """
    name, of = f"{table()}_{begins:%Y%m%d}_{ends:%Y%m%d}", quoted(table())
    first, end = first_id_at(begins), first_id_at(ends)
    with connection.cursor() as cursor:
        cursor.execute(OPTIONS, [of])
        row = cursor.fetchone()
    options = f" WITH ({row[0]})" if row and row[0] else ""

    def attach(cursor: Any) -> None:
        cursor.execute(f"CREATE TABLE {quoted(name)} (LIKE {of} {KEPT}){options}")
        cursor.execute(f"ALTER TABLE {quoted(name)} ADD PRIMARY KEY (id)")
        cursor.execute(
            f"ALTER TABLE {of} ATTACH PARTITION {quoted(name)} "
            f"FOR VALUES FROM ('{first}') TO ('{end}')"
        )

    in_short_locks(attach, seconds=5, attempts=attempts)
    return name


def ahead(now: PartitionLayout) -> int:
    """Return for how many days from now partitions exist."""
    last = now.last_end
    return 0 if last is None else max(0, (last - database_now()).days)


def problems(now: PartitionLayout) -> list[str]:
    """Return the problems for an operator, with instructions or causes. Reads no rows of runs."""
    found = []
    if not now.partitioned and now.foreign_keys:
        found.append(
            f"{len(now.foreign_keys)} foreign keys are missing: a conversion was interrupted. "
            "Repeat `manage.py partitions on`, or go back with `manage.py partitions off`."
        )
    if now.default is not None and now.default.rows:
        found.append(
            f"{now.default.name} has rows: beat did not run for some days. Retention deletes them "
            "one by one."
        )
    if now.partitioned and (number := ahead(now)) < LEAST_AHEAD:
        found.append(
            f"Partitions are there for {number} days only. Check that beat and a worker of control "
            "run."
        )
    if now.partitioned and (role := _without_right()):
        found.append(
            "Retention is slow: PostgreSQL checks the foreign keys of each deleted execution. Let "
            f"a superuser run: GRANT SET ON PARAMETER session_replication_role TO {role}"
        )
    return found


def _without_right() -> str:
    """Return this role's name if it cannot skip the foreign key checks of deletes; else ""."""
    with connection.cursor() as cursor:
        cursor.execute(MAY_SKIP_CHECKS)
        may, role = cursor.fetchone()
    return "" if may else str(role)


def _free_from(default: RunPartition | None, since: datetime) -> datetime:
    """Return `since`, or a midnight after all executions that the default partition can contain."""
    if default is None:
        return since
    with connection.cursor() as cursor:
        cursor.execute(NEWEST_IN.format(name=quoted(default.name)), [first_id_at(since)])
        row = cursor.fetchone()
    if row is None:
        return since
    latest = max(time_of(row[0]), database_now()).astimezone(UTC) + MARGIN
    return latest.replace(hour=0, minute=0, second=0, microsecond=0)


# Remove the oldest partition.


MOST_EXECUTIONS, MOST_RUNS = 1_000, 20_000


@dataclass(frozen=True, slots=True)
class Leavers:
    """The existing executions in a partition's range, and the number of their runs.

    `many` is true if there are too many executions or runs to move; the data is then incomplete.
    """

    executions: tuple[UUID, ...] = ()
    runs: int = 0
    many: bool = False


def leavers(partition: RunPartition) -> Leavers:
    """Return the executions that still exist in a partition's range, and the number of runs."""
    with connection.cursor() as cursor:
        limits = {"first": partition.first or NIL, "end": partition.end}
        cursor.execute(named(EXECUTIONS_IN), limits | {"most": MOST_EXECUTIONS + 1})
        ids = tuple(pk for (pk,) in cursor.fetchall())
    if len(ids) > MOST_EXECUTIONS:
        return Leavers(ids, many=True)
    runs = count_runs(ids)
    return Leavers(ids, runs, many=runs > MOST_RUNS)


def count_runs(execution_ids: Sequence[UUID]) -> int:
    """Return the number of these executions' runs, at most one more than `MOST_RUNS`."""
    with connection.cursor() as cursor:
        cursor.execute(named(RUNS_OF), {"ids": list(execution_ids), "most": MOST_RUNS + 1})
        ((runs,),) = cursor.fetchall()
    return int(runs)


def drop(old: RunPartition, *, attempts: int = SOON) -> bool:
    """Remove the oldest partition, and keep the runs of executions that still exist.

    These runs move to the long partition, whose range grows. Returns False if the partition must be
    kept: too many executions or runs remain, its period ended less than a day ago, or it is not the
    oldest. Raises TableBusy if the table remains in use.
    """
    ranges = [one for one in layout().ranges if not is_long(one)]
    over = old.ends is not None and old.ends < database_now() - DAY
    if not over or not ranges or ranges[0].name != old.name or leavers(old).many:
        return False
    in_short_locks(lambda cursor: _detach(cursor, old), seconds=30, attempts=attempts)
    _drop(_name_of_detached(old))
    return True


def drop_detached() -> int:
    """Drop partitions that an interrupted process had detached; return how many."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND NOT c.relispartition"
            " AND obj_description(c.oid, 'pg_class') = %s"
            " AND c.relnamespace = current_schema()::regnamespace",
            [DETACHED],
        )
        names = [name for (name,) in cursor.fetchall()]
    for name in names:
        _drop(name)
    return len(names)


def _drop(name: str) -> None:
    in_short_locks(lambda cursor: cursor.execute(f"DROP TABLE {quoted(name)}"))


DETACHED = "valkyr: to be dropped"


def _name_of_detached(old: RunPartition) -> str:
    """Return the name that a partition gets when it is detached."""
    return f"{old.name}_detached"


def long_name() -> str:
    """Return the name of the partition for executions that outlived their own partition."""
    return f"{table()}_long"


def is_long(one: RunPartition) -> bool:
    """Return whether this is the partition for executions that outlived their own partition."""
    return one.name == long_name()


def detach(cursor: Any, old: RunPartition) -> None:
    """Detach a partition and rename it, so that statements that name it fail from then on."""
    name, detached = quoted(old.name), quoted(_name_of_detached(old))
    cursor.execute(f"ALTER TABLE {quoted(table())} DETACH PARTITION {name}")
    cursor.execute(f"ALTER TABLE {name} RENAME TO {detached}")
    cursor.execute(f"COMMENT ON TABLE {detached} IS '{DETACHED}'")


def _detach(cursor: Any, old: RunPartition) -> None:
    """Detach a partition, and move the runs of executions that still exist to the long partition.

    The table is locked, so no run is written meanwhile. Raises TableBusy if too many remain.
    """
    of, long = quoted(table()), quoted(long_name())
    cursor.execute(f"LOCK TABLE {of} IN ACCESS EXCLUSIVE MODE")
    left = leavers(old)
    if left.many:
        raise TableBusy(f"Too many executions of {old.name} exist again. It stays.")
    there = any(is_long(one) for one in layout().partitions)
    detach(cursor, old)
    if there:
        cursor.execute(f"ALTER TABLE {of} DETACH PARTITION {long}")
    else:
        cursor.execute(OPTIONS, [of])
        row = cursor.fetchone()
        options = f" WITH ({row[0]})" if row and row[0] else ""
        cursor.execute(f"CREATE TABLE {long} (LIKE {of} {KEPT}){options}")
        cursor.execute(f"ALTER TABLE {long} ADD PRIMARY KEY (id)")
    if left.executions:
        ids = list(left.executions)
        copy_rows(cursor, _name_of_detached(old), long_name(), "execution_id = ANY(%s)", ids)
    cursor.execute(
        f"ALTER TABLE {of} ATTACH PARTITION {long} FOR VALUES FROM (MINVALUE) TO ('{old.end}')"
    )
