"""Rows that the test changes as workers would, on a separate connection where that matters."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
from django.db import connection

from runners.models import Run
from tests.support.fleet import database_url

TAKE = """
UPDATE runners_run SET state = 'RUNNING', lease_token = 1, leased_by = 'hand@host|1',
       lease_until = clock_timestamp() + interval '1 hour', started_at = clock_timestamp()
 WHERE id = %s
"""
FINISH = """
UPDATE runners_run SET state = 'SUCCESS', finished_at = clock_timestamp(), outcome = 'success'
 WHERE id = %s
"""
RENEW = "UPDATE runners_run SET heartbeat_at = clock_timestamp() WHERE id = %s"
END = """
UPDATE executions_workflowexecution SET state = 'SUCCESS', finished_at = clock_timestamp()
 WHERE id = %s
"""
# Copy an existing finished run thousands of times.
COPY = """
INSERT INTO runners_run
SELECT (jsonb_populate_record(r, jsonb_build_object(
           'id', gen_random_uuid(), 'step_path', 'copy' || n, 'state', 'SUCCESS',
           'finished_at', clock_timestamp()))).*
  FROM runners_run r, generate_series(1, %s) AS n
 WHERE r.id = %s
"""


def run_at(execution: UUID, path: str) -> Run:
    return Run.objects.get(execution=execution, step_path=path)


def do(statement: str, *params: Any) -> None:
    """Run a statement and commit."""
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


@contextmanager
def other_transaction() -> Iterator[psycopg.Connection[Any]]:
    """Open another session's transaction, which the block commits; otherwise it is rolled back."""
    with psycopg.connect(database_url()) as made:
        yield made
        made.rollback()


def in_database(execution: UUID) -> dict[str, str]:
    """Return the states of an execution's runs, by id."""
    rows = Run.objects.filter(execution=execution)
    return {str(pk): state for pk, state in rows.values_list("pk", "state")}
