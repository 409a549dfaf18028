"""Executions, dead letters and failure groups with labels, written by the database itself.

A customer called `big` has a million executions (90 % if there are fewer than 1.1 million). `quiet`
has 5 % and never fails. A hundred thousand others share the rest, and each order is one execution.
Each workflow has `GROUPS` groups.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.benchmarks import filling
from tests.benchmarks.talk import say

BIG = 1_000_000
GROUPS = 12
LABELS = """jsonb_build_object(
    'customer', CASE WHEN x.luck < 0.05 THEN 'quiet' WHEN random() < {share} THEN 'big'
                     ELSE 'c' || n %% 100000 END,
    'order', 'o' || n)"""
FILL_LABELS = """
INSERT INTO executions_executionlabel (execution_id, workspace_id, workflow_id, state, name, value)
SELECT e.id, e.workspace_id, e.workflow_id, e.state, l.key, l.value
  FROM executions_workflowexecution AS e CROSS JOIN jsonb_each_text(e.labels) AS l
 WHERE e.labels IS NOT NULL AND e.id >= %(first)s AND e.id < %(last)s
"""
FILL_GROUPS = f"""
INSERT INTO dlq_failuregroup (
    id, workspace_id, workflow_id, rule, place, module, exception, message, sample, split_on,
    status, status_before, status_at, muted, total, open, first_seen, last_seen,
    redriving{{columns}})
SELECT uuidv7(), (execution).workspace_id, (execution).workflow_id, 1, 's' || n, 'data.set', '',
       'gone ' || n, 'gone ' || n, '',
       (ARRAY['NEW', 'NEW', 'ACKNOWLEDGED', 'REGRESSED', 'RESOLVED'])[1 + n %% 5], '',
       clock_timestamp(), false, 1, 1, clock_timestamp(),
       clock_timestamp() - random() * interval '2 days', 0{{values}}
  FROM bench_template CROSS JOIN generate_series(0, {GROUPS - 1}) AS n
"""
FILL_HOURS = """
INSERT INTO dlq_grouphour (group_id, hour, count)
SELECT id, date_trunc('hour', now()) - h * interval '1 hour', (random() * 40)::int
  FROM dlq_failuregroup CROSS JOIN generate_series(0, 190) AS h
"""
# As the engine's IDs, these begin with a time: lists by label are in the order of IDs.
FILL_LETTERS = f"""
INSERT INTO dlq_deadletterentry (
    id, workspace_id, workflow_id, execution_id, run_id, task_id, step_path, failure_reason,
    failure_type, fingerprint, quarantined_at, resolution, resolved_at, notes, module, error_type,
    attempts, version_number, group_id, labels{{columns}})
SELECT uuidv7(e.finished_at - clock_timestamp()), e.workspace_id, e.workflow_id, e.id, r.id,
       r.task_id, r.step_path, g.message, 'MAX_RETRIES', md5(g.id::text), e.finished_at,
       CASE WHEN x.luck < 6 THEN 'PENDING' WHEN x.luck < 9 THEN 'REQUEUED' ELSE 'DISCARDED' END,
       CASE WHEN x.luck < 6 THEN NULL ELSE e.finished_at END,
       '', r.module, '', 3, 1, g.id, e.labels{{values}}
  FROM runners_run AS r JOIN executions_workflowexecution AS e ON e.id = r.execution_id
 CROSS JOIN LATERAL (SELECT (hashtext(e.id::text) & 65535) %% {GROUPS} AS place,
                            (hashtext(r.id::text) & 65535) %% 10 AS luck) AS x
  JOIN dlq_failuregroup AS g ON g.workflow_id = e.workflow_id AND g.place = 's' || x.place
 WHERE r.state = 'DLQ'
"""


def fill(many: int) -> None:
    """Insert executions with labels; only failed executions get runs and dead letters."""
    from dlq.models import DeadLetterEntry, FailureGroup
    from runners.models import Run

    filling._templates()
    sizes = {"many": many, "places": filling.WORKSPACES, "each": 1}
    share = min(0.9, BIG / many)
    filling.EXECUTION["labels"] = LABELS.format(share=share)
    halves = ((1, many // 2), (many // 2 + 1, many))
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda half: filling._executions(sizes, *half), halves))
        say(f"{many:,} executions")
        bounds = (UUID(int=0), _median(), UUID(int=2**128 - 1))
        parts = [{"first": bounds[n], "last": bounds[n + 1]} for n in range(2)]
        list(both.map(lambda part: filling._execute(FILL_LABELS, part), parts))
    say("labels")
    failed = filling.FILL_RUNS.replace("e.finished_at IS NOT NULL", "e.state = 'FAILED'")
    filling.run(Run, failed, sizes)
    filling.run(FailureGroup, FILL_GROUPS, sizes)
    filling._execute(FILL_HOURS)
    filling.run(DeadLetterEntry, FILL_LETTERS, sizes)
    say("dead letters")
    filling._execute("VACUUM ANALYZE")


def _median() -> Any:
    """Return an id in the middle of the table, by the id's time."""
    from executions.database.clock import database_now, first_id_at

    return first_id_at(database_now() - timedelta(days=15))


def sizes() -> Iterator[str]:
    """Yield the sizes of the tables, one line each."""
    from django.db import connection

    tables = (
        "executions_workflowexecution", "executions_executionlabel", "dlq_deadletterentry",
        "dlq_failuregroup",
    )  # fmt: skip
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(
                "SELECT pg_size_pretty(pg_table_size(%s::regclass)),"
                " pg_size_pretty(pg_indexes_size(%s::regclass)),"
                " (SELECT reltuples::bigint FROM pg_class WHERE oid = %s::regclass)",
                [table] * 3,
            )
            heap, indexes, rows = cursor.fetchone()
            yield f"{table}: {rows:,} rows, {heap}, indexes {indexes}"
