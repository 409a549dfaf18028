"""`python -m tests.benchmarks.growth`: the rows that a step leaves in PostgreSQL, and its use of
Redis.

Bytes, commits and messages are counted, not times: they are the same on a busy machine.
docs/explanation/scaling.md multiplies them.
"""

import argparse
import time
from dataclasses import dataclass
from typing import Any

from tests.benchmarks import programs, shapes
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS = 200
SHAPES = ("W1e", "W1p", "W2e", "one")
FLUSHED = 11.0  # seconds until PostgreSQL has counted the work of an idle session
TABLES = ("executions_workflowexecution", "runners_run", "executions_activity")


@dataclass(frozen=True, slots=True)
class State:
    """Counters that only grow, at one moment."""

    wal: int
    records: int
    full_pages: int
    commits: int
    commands: int
    table: int
    index: int

    def __sub__(self, before: "State") -> "State":
        values = (getattr(self, name) - getattr(before, name) for name in self.__slots__)
        return State(*values)


def state(redis_url: str) -> State:
    """Wait until the statistics of all sessions are included, and return the counters."""
    import redis
    from django.db import connection

    time.sleep(FLUSHED)
    with connection.cursor() as cursor:

        def one(query: str, *values: Any) -> tuple[Any, ...]:
            cursor.execute(query, values)
            return tuple(cursor.fetchone() or ())

        one("SELECT pg_stat_force_next_flush()")
        table, index = one(
            "SELECT sum(pg_table_size(t::regclass)), sum(pg_indexes_size(t::regclass)) "
            "FROM unnest(%s::text[]) t",
            list(TABLES),
        )
        wal = one("SELECT wal_bytes, wal_records, wal_fpi FROM pg_stat_wal")
        [commits] = one(
            "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        )
    with redis.Redis.from_url(redis_url) as client:
        commands = int(client.info("stats")["total_commands_processed"])
    return State(*(int(value) for value in (*wal, commits, commands, table, index)))


def measure(stage: Stage, name: str, executions: int) -> None:
    """Measure one workload, after a first run for costs that occur once."""
    document, steps = shapes.BY_NAME[name]
    engine = Engine(stage, stage.programs[0])
    workflow = engine.publish(document)
    engine.run(workflow, max(10, executions // 10), steps)
    before = state(stage.redis.url)
    engine.run(workflow, executions, steps)
    used = state(stage.redis.url) - before
    many = executions * steps
    say(
        f"{name:<5}{many:>7}{used.wal / many:>9,.0f}{used.records / many:>9.1f}"
        f"{used.full_pages / many:>7.2f}{used.commits / many:>9.2f}{used.commands / many:>8.1f}"
        f"{used.table / many:>9,.0f}{used.index / many:>9,.0f}"
        f"{(used.table + used.index) / executions:>12,.0f}"
    )


def main() -> None:
    """Print one line per workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--executions", type=int, default=EXECUTIONS)
    parser.add_argument("--only", default=",".join(SHAPES), help="workloads, by commas")
    options = parser.parse_args()
    with Stage() as stage:
        stage.add(programs.engine_worker(stage.folder, concurrency=2))
        say("A step: WAL bytes, WAL records, full pages, commits, Redis commands, bytes on disk")
        say("       steps      WAL  records  pages  commits   Redis    table    index  B/execution")
        for name in options.only.split(","):
            measure(stage, name, options.executions)


if __name__ == "__main__":
    main()
