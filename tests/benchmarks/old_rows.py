"""Finished executions and their runs, copied from a pattern by the database itself."""

from datetime import datetime, timedelta
from typing import Any

EXECUTIONS = """
INSERT INTO executions_workflowexecution
SELECT r.*
  FROM executions_workflowexecution AS e
 CROSS JOIN generate_series(1, %(many)s) AS n
 CROSS JOIN LATERAL (SELECT {at} AS at) x
 CROSS JOIN LATERAL jsonb_populate_record(
       e, jsonb_build_object('id', uuidv7(x.at - clock_timestamp()), 'created_at', x.at,
                             'started_at', x.at, 'finished_at', x.at,
                             'trace_id', md5(n::text))) AS r
 WHERE e.id = %(pattern)s
"""
RUNS = """
INSERT INTO runners_run
SELECT r.*
  FROM executions_workflowexecution AS e
 CROSS JOIN generate_series(1, %(each)s) AS n
  JOIN runners_run AS p ON p.execution_id = %(pattern)s
 CROSS JOIN LATERAL jsonb_populate_record(
       p, jsonb_build_object('id', uuidv7(e.finished_at - clock_timestamp()),
                             'execution_id', e.id, 'step_path', 's' || n || '.main',
                             'queued_at', e.created_at, 'started_at', e.created_at,
                             'finished_at', e.finished_at)) AS r
 WHERE e.finished_at < %(before)s
"""


def fill(
    pattern: Any, many: int, each: int, at: str, *, before: datetime | None = None, **given: Any
) -> None:
    """Copy the execution `pattern` `many` times, with `each` runs.

    `at` is the SQL of the time at which the copy `n` ran, with the parameters `many` and `given`.
    Only executions that ended `before` this time (by default an hour ago) get runs, so that the
    pattern gets none.
    """
    from django.db import connection

    from executions.database.clock import database_now

    before = before or database_now() - timedelta(hours=1)
    told = {"many": many, "pattern": pattern, "each": each, "before": before, **given}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET synchronous_commit = off")
        cursor.execute(EXECUTIONS.format(at=at), told)
        cursor.execute(RUNS, told)
        cursor.execute("VACUUM ANALYZE executions_workflowexecution")
        cursor.execute("VACUUM ANALYZE runners_run")
        cursor.execute("RESET statement_timeout; RESET synchronous_commit")
