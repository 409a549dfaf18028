"""The auditor detects each broken rule, after a test breaks it in the rows."""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from tests.support.auditor import Audit, audit
from tests.support.engine_database import engine_database
from tests.support.single_thread import world
from tests.support.workflows import effect, publish, start

TWO = {"tasks": [effect("one"), effect("two", after="one")]}


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def execution(engine: None, monkeypatch: pytest.MonkeyPatch) -> UUID:
    """Return a successful execution."""
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        made = start(publish(TWO))
        quiet.drain()
    audit([made])
    return made


def tamper(change: str, execution: UUID) -> str:
    """Change the rows; return the auditor's problems after that."""
    with connection.cursor() as cursor:
        cursor.execute(change, [execution])
    return "\n".join(Audit([execution]).problems)


RUNS = "UPDATE runners_run SET {} WHERE execution_id = %s AND step_path = 'two.main'"
EXECUTION = "UPDATE executions_workflowexecution SET {} WHERE id = %s"
AGAIN = """
INSERT INTO test_effects (key, execution, step, attempt, run, token, pid)
SELECT key, execution, step, attempt, run, {}, pid FROM test_effects WHERE execution = %s
"""


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (RUNS.format("state = 'PENDING', finished_at = NULL"), "live run: two.main"),
        (RUNS.format("state = 'CANCELLED'"), "two.main had to run and did not end"),
        (RUNS.format("state = 'DLQ'"), "it had to be FAILED"),
        (RUNS.format("started_at = started_at - interval '1 h'"), "ran two.main at"),
        (RUNS.format("lease_token = 7"), "done under a lease that did nothing"),
        (
            "UPDATE runners_run SET idempotency_key = 'same' WHERE execution_id = %s",
            "as two successes",
        ),
        (
            "DELETE FROM runners_run WHERE execution_id = %s AND step_path = 'one.main'",
            "one.main had to run",
        ),
        (AGAIN.format("token"), "2 times under one lease"),
        (EXECUTION.format("state = 'FAILED'"), "it had to be SUCCESS"),
        (EXECUTION.format("state = 'RUNNING', finished_at = NULL"), "is RUNNING, not final"),
    ],
)
def test_a_broken_promise_is_named(execution: UUID, change: str, found: str) -> None:
    assert found in tamper(change, execution)


LOOP = {
    "id": "refine",
    "use": "flow.loop",
    "with": {"count": 2},
    "body": {"tasks": [effect("draft", value="{{ loop.index }}")]},
}
MAP = {
    "id": "batch",
    "use": "flow.map",
    "after": "refine",
    "with": {"items": [5, 6, 7], "maxConcurrency": 1, "onItemError": "continue"},
    "body": {
        "tasks": [
            effect("weigh", value="{{ item }}", failTimes="{{ [0, 9, 0][index] }}", retry="none"),
            effect("ship", after="weigh", value="{{ tasks.weigh.output }}"),
        ]
    },
}


@pytest.fixture
def nested(engine: None, monkeypatch: pytest.MonkeyPatch) -> UUID:
    """Return a successful execution with a loop and a map; one item of the map failed."""
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        made = start(publish({"tasks": [LOOP, MAP]}))
        quiet.drain()
    audit([made])
    return made


def of(path: str, change: str) -> str:
    """Return a statement that changes the runs of one step path."""
    return f"UPDATE runners_run SET {change} WHERE execution_id = %s AND step_path = '{path}'"


EARLY = "started_at = started_at - interval '1 h'"
LATE = "finished_at = finished_at + interval '1 h'"
MARKS = "UPDATE test_effects SET at = at - interval '1 h' WHERE execution = %s AND step {}"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (of("batch[2].weigh.main", "state = 'CANCELLED'"), "batch[2].weigh.main had to run"),
        (of("batch[1].weigh.main", "state = 'DLQ'"), "weigh.main DLQ; it had to be FAILED"),
        (of("batch[1].ship.main", "state = 'SUCCESS'"), "1 SUCCESS runs of batch[1].ship.main"),
        (of("refine[1].draft.main", "step_path = 'refine[2].draft.main'"), "refine[1].draft.main"),
        (of("refine.main", """outputs = '{"iterations": 3}'"""), "recorded {'iterations': 3}"),
        (of("batch.main", "outputs = '[7, 6, 5]'"), "recorded [7, 6, 5] of batch.main"),
        (of("refine[0].draft.main", EARLY), "ran refine[0].draft.main at"),
        (of("refine[0].draft.main", LATE), "began refine[1]. before refine[0]. had ended"),
        (of("batch[0].weigh.main", EARLY), "ran batch[0].weigh.main at"),
        (of("batch[2].ship.main", EARLY), "ran batch[2].ship.main at"),
        (of("batch[0].ship.main", LATE), "of which 2 places were open at once"),
        (of("batch[2].ship.main", LATE), "and batch[2]. went on"),
        (MARKS.format("= 'batch[2].weigh.main'"), "ran batch[2].weigh.main at"),
        (
            of("refine.main", "state = 'WAITING', waits_for = 'body', finished_at = NULL"),
            "live run: refine.main",
        ),
        (of("batch.main", "state = 'DLQ'"), "has 0 SUCCESS runs of batch.main"),
    ],
)
def test_a_promise_broken_inside_a_container_is_named(
    nested: UUID, change: str, found: str
) -> None:
    assert found in tamper(change, nested)


def test_a_repeat_after_a_crash_is_counted_and_no_problem(execution: UUID) -> None:
    assert tamper(AGAIN.format("token - 1"), execution) == ""
    assert audit([execution]).repeats == 2
