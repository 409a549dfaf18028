"""The queries of schedules, which run at the end of executions and every few seconds, use indexes
even after many ticks.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from executions.database import statements
from executions.models import Trigger
from executions.models import WorkflowExecution as Execution
from executions.triggers.cron import start_due
from tests.support.schedules import queued, scheduled

pytestmark = pytest.mark.django_db
MANY = 5_000

COPIES = """
INSERT INTO executions_workflowexecution
SELECT (jsonb_populate_record(e, jsonb_build_object(
           'id', gen_random_uuid(), 'state', 'SUCCESS', 'finished_at', clock_timestamp(),
           'idempotency_key', NULL))).*
  FROM executions_workflowexecution e, generate_series(1, %s)
 WHERE e.trigger_id = %s
"""
TICKS = """
INSERT INTO executions_crontick (id, trigger_id, fire_at, execution_id, status, reason)
SELECT gen_random_uuid(), e.trigger_id, clock_timestamp() - row_number() OVER () * interval '1 h',
       e.id, 'FIRED', ''
  FROM executions_workflowexecution e
 WHERE e.state = 'SUCCESS'
"""


@pytest.fixture
def trigger() -> Trigger:
    """Create a schedule that has fired for years, with one running execution and one waiting
    tick.
    """
    made = scheduled(schedule="0 0 1 1 *", overlap="queue")
    queued(made, 2)
    start_due(made.pk)
    with connection.cursor() as cursor:
        cursor.execute(COPIES, [MANY, made.pk])
        cursor.execute(TICKS)
        for table in ("executions_workflowexecution", "executions_crontick"):
            cursor.execute(f"ANALYZE {table}")
    return made


def test_whether_a_tick_waits_for_an_ended_execution_is_read_from_indexes(trigger: Trigger) -> None:
    text = re.sub(r"%\(\w+\)s", "$1", statements.statement("trigger_with_queued_ticks"))
    with connection.cursor() as cursor:
        raw = cursor.cursor.connection
    raw.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    raw.execute(f"PREPARE looked_at AS {text}")
    try:
        found = raw.execute("EXPLAIN (FORMAT JSON) EXECUTE looked_at(NULL)").fetchone()
    finally:
        raw.execute("DEALLOCATE looked_at")

    nodes = list(_nodes(found[0][0]["Plan"]))

    assert {"executions_workflowexecution_pkey", "tick_queued"} == _indexes(nodes)
    assert not _whole_tables(nodes)


def test_unfinished_executions_of_a_trigger_are_found_by_their_own_index(trigger: Trigger) -> None:
    rows = Execution.objects.filter(trigger=trigger, finished_at=None, origin=None)
    with connection.cursor() as cursor:
        query, params = rows.query.sql_with_params()
        cursor.execute(f"EXPLAIN (FORMAT JSON) {query}", params)
        nodes = list(_nodes(cursor.fetchone()[0][0]["Plan"]))

    assert _indexes(nodes) == {"execution_trigger"}


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)


def _indexes(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in nodes if "Index Name" in node}


def _whole_tables(nodes: list[dict[str, Any]]) -> set[str]:
    return {node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"}
