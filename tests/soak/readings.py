"""Repeated readings: processes' memory and descriptors, tables, durations."""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress

import psutil
from django.db import connection

from tests.soak.trends import Reading

MB = 2**20
# Pages of tables and indexes, and rows that vacuum has to remove.
TABLES = """
SELECT c.relname, pg_total_relation_size(c.oid), coalesce(s.n_dead_tup, 0)
  FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
 WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
   AND c.relname IN ('executions_workflowexecution', 'runners_run', 'runners_waiter',
                     'dlq_deadletterentry')
"""
# Tables that autovacuum has not vacuumed yet, because they have fewer dead rows than it waits for.
UNVACUUMED = """
SELECT c.relname
  FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid,
       LATERAL (SELECT jsonb_object_agg(option_name, option_value)
                  FROM pg_options_to_table(c.reloptions)) AS o (settings)
 WHERE s.autovacuum_count = 0 AND s.vacuum_count = 0
   AND s.n_dead_tup < (settings ->> 'autovacuum_vacuum_threshold')::float
     + (settings ->> 'autovacuum_vacuum_scale_factor')::float * greatest(c.reltuples, 0)
"""
LATENCY = """
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at))
  FROM executions_workflowexecution
 WHERE workflow_id = %s AND finished_at > now() - interval '30 s' AND state = 'SUCCESS'
"""


class Readings:
    """Series by name; `processes` are the parents, by their names in the report."""

    def __init__(self, processes: Mapping[str, int], workflow: object) -> None:
        self.series: dict[str, list[Reading]] = defaultdict(list)
        self._processes = processes
        self._workflow = workflow
        self._begun = time.monotonic()

    def read(self) -> None:
        """Take one reading of everything."""
        at = time.monotonic() - self._begun
        for name, pid in self._processes.items():
            memory, descriptors = _of_process(pid)
            self.series[f"{name}: memory, MB"].append((at, memory))
            self.series[f"{name}: descriptors"].append((at, descriptors))
        with connection.cursor() as cursor:
            cursor.execute(TABLES)
            for table, size, dead in cursor.fetchall():
                self.series[f"{table}: size, MB"].append((at, size / MB))
                self.series[f"{table}: dead rows"].append((at, float(dead)))
            cursor.execute(LATENCY, [self._workflow])
            row = cursor.fetchone()
        if row and row[0] is not None:
            self.series["chain: median, s"].append((at, float(row[0])))

    def unvacuumed(self) -> set[str]:
        """Return the series of tables whose dead rows are too few for a vacuum, and so remain."""
        with connection.cursor() as cursor:
            cursor.execute(UNVACUUMED)
            tables = {table for (table,) in cursor.fetchall()}
        return {name for name in self.series if name.partition(":")[0] in tables}

    def newest(self, names: Iterable[str]) -> str:
        """Return a line of progress."""
        return ", ".join(f"{n} {self.series[n][-1][1]:.1f}" for n in names if self.series[n])


def _of_process(pid: int) -> tuple[float, float]:
    """Return a process's resident memory in MB and its descriptors, including its children's.

    Pages that a child shares with its parent count twice: as private memory they would grow by each
    page that either writes to, until all are written to.
    """
    memory, descriptors = 0.0, 0
    with suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        for one in (parent, *parent.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                memory += one.memory_info().rss / MB
                descriptors += one.num_fds()
    return memory, float(descriptors)
