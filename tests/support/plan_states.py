"""Databases whose hot tables are empty, fresh, full or idle, and PostgreSQL's plans for each.

SQL creates the rows, in separate databases without autovacuum. `FULL` is a number of rows above
which no plan changes: reading a table of 10,000 finished executions and 20,000 runs costs a hundred
times an index look-up, and more rows add only to the former. With 1,000,000 and 2,000,000 the plans
of 87 of 90 statements were the same (2026-11-26; it takes four minutes).
`executions_missing_a_slot`, `ended_with_live_runs` and `long_running` read a whole table in the
state "fresh, analysed", where every row had become due in those minutes.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from tests.support import copies, migrated

HOT = ("executions_workflowexecution", "runners_run", "runners_waiter")
LIVE, FULL = 3_000, 10_000
WORKSPACES = 40

EXECUTIONS = """
INSERT INTO executions_workflowexecution (
    id, workspace_id, workflow_id, version_id, state, place, epoch, depth, trigger_type,
    context_data, trigger_payload, priority, created_at, started_at, finished_at, deadline_at,
    origin_point, request_hash, error_message, error_stack_trace, trace_id)
SELECT gen_random_uuid(), own.w, own.w, own.w, own.state, 'HELD', 0, 0, 'MANUAL', '{}', '{}', 5,
       own.at, own.at, CASE WHEN NOT %(live)s THEN own.at + interval '1 second' END,
       own.at + interval '1 hour',
       '', '', '', '', md5(n::text)
  FROM generate_series(1, %(many)s) AS n
 CROSS JOIN LATERAL (
       SELECT clock_timestamp() - n * interval '1 second' AS at,
              md5('w' || n %% %(workspaces)s)::uuid AS w,
              CASE WHEN %(live)s THEN CASE WHEN n %% 10 = 0 THEN 'PENDING' ELSE 'RUNNING' END
                   WHEN n %% 40 = 0 THEN 'FAILED' ELSE 'SUCCESS' END AS state) AS own
"""
RUNS = """
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, lease_until, recoveries,
    idempotency_key, inputs_hash, config_hash, outcome, error, error_type, publications,
    queued_at, started_at, finished_at, due_at, published_at, waits_for, cost_tokens, cost_amount)
SELECT gen_random_uuid(), e.id, 0, 's' || n, 's' || n || '.main',
       md5('t' || n)::uuid, md5('m' || n)::uuid, 'flow.noop', 1, 1, own.state, false, 'default', 5,
       CASE WHEN own.state = 'RUNNING' THEN 1 ELSE 0 END,
       CASE WHEN own.state = 'RUNNING' THEN 'w@h|1' ELSE '' END,
       CASE WHEN own.state = 'RUNNING' THEN clock_timestamp() + interval '1 minute' END, 0,
       '', '', '', '', '', '', 1, e.created_at, e.created_at,
       CASE WHEN NOT %(live)s THEN clock_timestamp() END,
       clock_timestamp() + (random() * 100 - 10) * interval '1 minute', clock_timestamp(),
       CASE WHEN own.state = 'WAITING' THEN 'event' ELSE '' END, 0, 0
  FROM executions_workflowexecution AS e CROSS JOIN generate_series(1, %(each)s) AS n
 CROSS JOIN LATERAL (
       SELECT CASE WHEN NOT %(live)s
                   THEN CASE WHEN abs(hashtext(e.id::text)) %% 20 = 0 THEN 'FAILED'
                             ELSE 'SUCCESS' END
                   ELSE (ARRAY['PENDING', 'RUNNING', 'WAITING'])
                        [1 + abs(hashtext(e.id::text)) %% 3] END AS state) AS own
 WHERE (e.finished_at IS NULL) = %(live)s
   AND NOT EXISTS (SELECT 1 FROM runners_run r WHERE r.execution_id = e.id)
"""
WAITERS = """
INSERT INTO runners_waiter (run_id, execution_id, workspace_id, kind, key, created_at)
SELECT r.id, r.execution_id, e.workspace_id, 'event', 'event ' || abs(hashtext(r.id::text)) % 20,
       clock_timestamp()
  FROM runners_run r JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE r.state = 'WAITING'
"""
END = """
DELETE FROM runners_waiter;
UPDATE runners_run SET state = 'SUCCESS', finished_at = clock_timestamp()
 WHERE finished_at IS NULL;
UPDATE executions_workflowexecution SET state = 'SUCCESS', finished_at = clock_timestamp()
 WHERE finished_at IS NULL;
"""
Session = psycopg.Connection[Any]


def _live(own: Session, many: int = LIVE, each: int = 1) -> None:
    params = {"live": True, "many": many, "each": each, "workspaces": WORKSPACES}
    own.execute(EXECUTIONS, params)
    own.execute(RUNS, params)
    own.execute(WAITERS)


def _idle(own: Session) -> None:
    _live(own)
    own.execute(END)


def _full(own: Session) -> None:
    """Insert ended executions and runs, most of which ended long ago."""
    _idle(own)
    params = {"live": False, "many": FULL, "each": 2, "workspaces": WORKSPACES}
    own.execute(EXECUTIONS, params)
    own.execute(RUNS, params)


def _busy(own: Session) -> None:
    _full(own)
    _live(own, 50)


def _backlog(own: Session) -> None:
    _full(own)
    _live(own, LIVE, 3)


# How the tables were filled, and whether they were analysed then.
STATES: dict[str, tuple[Callable[[Session], None], str]] = {
    "empty": (lambda own: None, ""),
    "fresh": (_live, ""),
    "fresh, analysed": (_live, "ANALYZE"),
    "full": (_busy, ""),
    "full, analysed": (_busy, "ANALYZE"),
    "full with a backlog, analysed": (_backlog, "ANALYZE"),
    "idle after work, vacuumed": (_idle, "VACUUM ANALYZE"),
    "idle after much work, vacuumed": (_full, "VACUUM ANALYZE"),
}


@dataclass(frozen=True, slots=True)
class TablePlan:
    """A plan, and the tables and indexes that it reads."""

    reads: frozenset[str]
    text: str

    @property
    def whole(self) -> frozenset[str]:
        """Return the hot tables that the plan reads completely."""
        return frozenset(one for one in self.reads if one.startswith("all of "))


@contextmanager
def database(state: str) -> Iterator[Session]:
    """Open a session in a new database whose tables are in this state."""
    fill, statistics = STATES[state]
    name = f"plans_{re.sub('[^a-z]+', '_', state)}"
    with migrated.copied(name), copies.session(autocommit=True, database=name) as own:
        for table in HOT:
            own.execute(
                sql.SQL("ALTER TABLE {} SET (autovacuum_enabled = off)").format(
                    sql.Identifier(table)
                )
            )
        fill(own)
        for table in HOT if statistics else ():
            own.execute(f"{statistics} {table}".encode())
        yield own


def kept_plan(
    own: Session, statement: str, values: Mapping[str, Any], *, generic: bool
) -> TablePlan:
    """Return the plan of a prepared statement: the generic one, or the one for these values."""
    names: dict[str, int] = {}
    text = re.sub(
        r"%\((\w+)\)s", lambda found: f"${names.setdefault(found[1], len(names) + 1)}", statement
    ).replace("%%", "%")
    mode = "force_generic_plan" if generic else "force_custom_plan"
    own.execute(f"SET plan_cache_mode = {mode}".encode())
    own.execute(f"PREPARE looked_at AS {text}".encode())
    try:
        given = sql.SQL(", ").join(sql.Literal(values[name]) for name in names)
        call = sql.SQL("looked_at({})").format(given) if names else sql.SQL("looked_at")
        return _explained(own, sql.SQL("EXECUTE ") + call)
    finally:
        own.execute("DEALLOCATE looked_at")


def plan_of(own: Session, query: Any) -> TablePlan:
    """Return the plan of a query of the ORM, which is planned each time."""
    text, params = query.query.sql_with_params()
    given = psycopg.ClientCursor(own).mogrify(text, params)
    return _explained(own, sql.SQL(given))  # type: ignore[arg-type]


def _explained(own: Session, query: sql.Composable) -> TablePlan:
    explain = sql.SQL("EXPLAIN (FORMAT JSON, VERBOSE) ") + query
    found: Any = own.execute(explain).fetchone()
    lines = own.execute(sql.SQL("EXPLAIN ") + query).fetchall()
    nodes = list(_nodes(found[0][0]["Plan"]))
    hot = own.execute("SELECT indexname FROM pg_indexes WHERE tablename = ANY(%s)", [list(HOT)])
    reads = {name for (name,) in hot} & {node.get("Index Name") for node in nodes}
    reads |= {
        f"all of {node['Relation Name']}"
        for node in nodes
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in HOT
    }
    return TablePlan(frozenset(reads), "\n".join(line for (line,) in lines))


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
