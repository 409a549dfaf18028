"""Common queries of the views read indexes, not whole tables."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings

from tests.support import migrated
from tests.support.plan_states import HOT, Session, database
from valkyr_plugins.sql_views import installing

RECENT = "now() - interval '1 minute'"
WORKFLOW = "md5('w7')::uuid"
# For a short time, reading that time of all workspaces is as good.
BY_TIME = "execution_workspace_list execution_list"
# Each question, and the indexes by one of which the answer is read.
QUESTIONS = {
    f"SELECT state, count(*) FROM executions WHERE created_at >= {RECENT} GROUP BY state": BY_TIME,
    f"SELECT workflow, count(*) FROM executions WHERE created_at >= {RECENT} GROUP BY 1": BY_TIME,
    f"SELECT id FROM executions WHERE created_at >= {RECENT} AND state = 'FAILED'": BY_TIME,
    f"SELECT avg(duration_seconds) FROM executions WHERE workflow_id = {WORKFLOW}"
    f" AND created_at >= {RECENT}": "execution_workflow_list",
    "SELECT id FROM executions WHERE state IN ('FAILED', 'TIMEOUT', 'CANCELLED')"
    " AND finished_at IS NOT NULL": "execution_ended_badly",
    "SELECT * FROM executions WHERE id = md5('one')::uuid": "executions_workflowexecution_pkey",
    f"SELECT step, avg(duration_ms) FROM steps WHERE execution_created_at >= {RECENT}"
    f" AND workflow_id = {WORKFLOW} GROUP BY step": "run_execution_state",
    "SELECT * FROM steps WHERE execution_id = md5('one')::uuid": "run_execution_state",
}


@pytest.fixture(scope="module")
def session(django_db_setup: None, django_db_blocker: Any) -> Iterator[Session]:
    """Yield a database with many executions, and the views."""
    if settings.DATABASES["default"]["TEST"].get("TEMPLATE") != migrated.NAME:
        pytest.skip("needs a server of the tests' own, with a migrated database to copy")
    with django_db_blocker.unblock(), database("full, analysed") as own:
        own.execute("CREATE SCHEMA valkyr_views")
        for statement in installing._statements():
            own.execute(statement.encode())
        own.execute("SET search_path = valkyr_views, public")
        yield own


@pytest.mark.parametrize(("question", "indexes"), QUESTIONS.items())
def test_a_common_question_reads_an_index(session: Session, question: str, indexes: str) -> None:
    found: Any = session.execute(f"EXPLAIN (FORMAT JSON) {question}".encode()).fetchone()
    nodes = list(_nodes(found[0][0]["Plan"]))
    whole = [
        node["Relation Name"]
        for node in nodes
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in HOT
    ]
    assert not whole, found
    assert {*indexes.split()} & {node.get("Index Name") for node in nodes}, found


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("Plans", []):
        yield from _nodes(child)
