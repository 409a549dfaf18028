"""Find rows that a foreign key would reject; a partitioned table of runs has no foreign keys.

The engine inserts runs only while it holds their execution's lock, and retention deletes waiters
and dead letters before runs. There should therefore be no such rows, except ended runs without an
execution: they are deleted with their partition.
"""

import re

from executions.database import connection
from executions.database.names import named
from runners.partitions.layout import layout, quoted, table
from runners.partitions.short_locks import in_short_locks

COLUMNS = re.compile(r'^FOREIGN KEY \("?(?P<column>\w+)"?\) REFERENCES \S+\("?(?P<key>\w+)"?\)')
LIVE_RUNS = """
SELECT count(*) FROM runners_run r
 WHERE r.finished_at IS NULL AND r.state IN ('LEASED', 'PENDING', 'RUNNING', 'WAITING')
   AND NOT EXISTS (SELECT FROM executions_workflowexecution e WHERE e.id = r.execution_id)
"""
DELETE_RUNS = """
DELETE FROM runners_run r
 WHERE NOT EXISTS (SELECT FROM executions_workflowexecution e WHERE e.id = r.execution_id)
"""


def count() -> dict[str, int]:
    """Count the orphans, except ended runs, for each removed foreign key (`table.column`)."""
    found = {}
    with connection.cursor() as cursor:
        for of, _, definition in layout().foreign_keys:
            columns = COLUMNS.match(definition)
            if columns is None:
                continue
            column = columns["column"]
            if of == quoted(table()) or of == table():
                cursor.execute(named(LIVE_RUNS))
            else:
                cursor.execute(
                    f"SELECT count(*) FROM {of} o WHERE o.{quoted(column)} IS NOT NULL "  # noqa: S608
                    f"AND NOT EXISTS (SELECT FROM {quoted(table())} r "
                    f"WHERE r.{quoted(columns['key'])} = o.{quoted(column)})"
                )
            row = cursor.fetchone()
            found[f"{of}.{column}"] = row[0] if row else 0
    return found


def delete_runs() -> None:
    """Delete the runs without an execution from an unpartitioned table, for the new foreign key."""
    if not layout().partitioned:
        in_short_locks(lambda cursor: cursor.execute(named(DELETE_RUNS)), seconds=0)
