"""The indexes of the statements on labels, on empty, fresh and full tables.

SQL creates the rows, in separate databases without autovacuum.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings

from executions.database import statements
from executions.labels.ranges import HIGHEST, LOWEST
from tests.support import copies, migrated
from tests.support.plan_states import EXECUTIONS, LIVE, WORKSPACES, Session, kept_plan

LABELS = """
INSERT INTO executions_executionlabel (execution_id, workspace_id, workflow_id, state, name, value)
SELECT e.id, e.workspace_id, e.workflow_id, e.state, l.name,
       CASE WHEN l.name = 'order' THEN e.id::text WHEN random() < 0.5 THEN 'big'
            ELSE 'c' || floor(random() * 100) END
  FROM executions_workflowexecution AS e CROSS JOIN (VALUES ('customer'), ('order')) AS l (name)
"""
FOLLOW = "UPDATE executions_executionlabel SET state = %(state)s WHERE execution_id = %(one)s"
DELETION = "DELETE FROM executions_executionlabel WHERE execution_id = ANY(%(ids)s)"
NAMES = ("labelled_newest", "labelled_oldest", "workflows_labelled", "count_labelled")
STATES = {"empty": (0, ""), "fresh": (LIVE, ""), "full": (20_000, "ANALYZE")}
ONE = UUID(int=7)


@contextmanager
def database(state: str) -> Iterator[Session]:
    """Open a session in a new database with labels."""
    many, statistics = STATES[state]
    with (
        migrated.copied(f"label_plans_{state}") as _,
        copies.session(autocommit=True, database=f"label_plans_{state}") as own,
    ):
        own.execute("ALTER TABLE executions_executionlabel SET (autovacuum_enabled = off)")
        own.execute(EXECUTIONS, {"live": False, "many": many, "workspaces": WORKSPACES})
        own.execute(LABELS)
        if statistics:
            own.execute("VACUUM ANALYZE executions_executionlabel")
        yield own


@pytest.fixture(scope="module", params=list(STATES))
def own(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> Iterator[Session]:
    if settings.DATABASES["default"]["TEST"].get("TEMPLATE") != migrated.NAME:
        pytest.skip("needs a server of the tests' own, with a migrated database to copy")
    with django_db_blocker.unblock(), database(request.param) as found:
        yield found


@pytest.mark.parametrize("value", ["big", "c7", "unknown"])
@pytest.mark.parametrize("name", NAMES)
def test_a_statement_on_labels_reads_a_range_of_its_index(
    own: Session, name: str, value: str
) -> None:
    values = {
        "name": "customer", "value": value, "workflows": [ONE] * 5, "states": ["FAILED"] * 5,
        "above": LOWEST, "below": HIGHEST, "many": [51] * 5, "most": 1_000,
    }  # fmt: skip
    kept = "plan each time" not in (statements.FOLDER / f"{name}.sql").read_text()
    plan = kept_plan(own, statements.statement(name), values, generic=kept)
    assert "label_newest" in plan.text, plan.text
    assert "Seq Scan on executions_executionlabel" not in plan.text, plan.text
    assert "Sort" not in plan.text.split("label_newest")[-1], plan.text


@pytest.mark.parametrize("statement", [FOLLOW, DELETION], ids=["follow", "delete"])
def test_the_labels_of_an_execution_are_found_by_its_id(own: Session, statement: str) -> None:
    values = {"state": "FAILED", "one": ONE, "ids": [ONE] * 3}
    # Retention's deletion is a query of the ORM, which is planned each time.
    plan = kept_plan(own, statement, values, generic=statement == FOLLOW)
    assert "Seq Scan" not in plan.text, plan.text
    assert "executions_executionlabel_pkey" in plan.text, plan.text
