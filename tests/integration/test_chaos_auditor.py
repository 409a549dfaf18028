"""The chaos auditor names each kind of broken promise: an auditor that cannot fail proves
nothing.
"""

from collections.abc import Iterator
from random import Random
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import connection

from tests.chaos import ledger
from tests.support.engine_database import engine_database
from tests.support.single_thread import world
from tests.support.workflows import effect, publish, start

TASKS = [effect("first"), effect("second", after="first"), effect("third", after="second")]
OF = "execution_id = %(execution)s AND step_path"


@pytest.fixture(scope="module")
def engine(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture
def ended(engine: None, monkeypatch: pytest.MonkeyPatch) -> UUID:
    """Return a successful execution of three effects in a chain."""
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        execution = start(publish({"tasks": TASKS}))
        quiet.drain()
    return execution


def plant(execution: UUID, statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"execution": execution})
        assert cursor.rowcount == 1, "the violation was not planted"


def problems(execution: UUID) -> str:
    return "\n".join(ledger.read([execution], [execution], set()).problems)


def test_what_ended_well_has_no_problem(ended: UUID) -> None:
    found = ledger.read([ended], [ended], set())
    assert not found.problems
    assert (found.effects, dict(found.ended), dict(found.repeats)) == (3, {"SUCCESS": 1}, {})


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        pytest.param(
            f"DELETE FROM runners_run WHERE {OF} = 'second.main'",
            "step second.main had to run and did not end",
            id="a lost step",
        ),
        pytest.param(
            "UPDATE executions_workflowexecution SET state = 'RUNNING', finished_at = NULL "
            "WHERE id = %(execution)s",
            "is RUNNING, not final",
            id="an execution that never ends",
        ),
        pytest.param(
            "UPDATE runners_run r SET idempotency_key = o.idempotency_key FROM runners_run o "
            "WHERE r.execution_id = %(execution)s AND r.step_path = 'second.main' "
            "AND o.execution_id = r.execution_id AND o.step_path = 'first.main'",
            "recorded the key of second.main as two successes",
            id="one key, two successes",
        ),
        pytest.param(
            "UPDATE test_effects SET token = token - 1 WHERE execution = %(execution)s "
            "AND step = 'third.main'",
            "recorded third.main as done under a lease that did nothing",
            id="a fence that let a late holder through",
        ),
        pytest.param(
            "INSERT INTO test_effects (key, execution, step, attempt, run, token, pid) "
            "SELECT key, execution, step, attempt, run, token, pid FROM test_effects "
            "WHERE execution = %(execution)s AND step = 'first.main'",
            "did its effect twice under the token 1",
            id="an effect done twice under one lease",
        ),
        pytest.param(
            f"UPDATE runners_run SET state = 'RUNNING', finished_at = NULL WHERE {OF} "
            "= 'third.main'",
            "has a live run: third.main #1 RUNNING",
            id="a lease that is still held",
        ),
        pytest.param(
            "UPDATE test_effects SET at = at - interval '1 hour' WHERE execution = %(execution)s "
            "AND step = 'third.main'",
            "ran third.main at",
            id="a step before its predecessor",
        ),
    ],
)
def test_a_planted_violation_is_named(ended: UUID, statement: str, said: str) -> None:
    plant(ended, statement)
    assert said in problems(ended)


def test_an_accepted_execution_that_is_not_there_is_named(engine: None) -> None:
    gone = uuid4()
    assert ledger.read([gone], [], set()).problems == [
        f"execution {gone} was accepted and is not there"
    ]


@pytest.mark.parametrize(("injured", "why"), [(True, ledger.CRASH), (False, ledger.LEASE)])
def test_a_repeated_effect_is_put_down_to_what_befell_its_process(
    ended: UUID, injured: bool, why: str
) -> None:
    plant(
        ended,
        "INSERT INTO test_effects (key, execution, step, attempt, run, token, pid) "
        "SELECT key, execution, step, attempt, run, token - 1, 7 FROM test_effects "
        "WHERE execution = %(execution)s AND step = 'first.main'",
    )
    found = ledger.read([ended], [ended], {7} if injured else set())
    assert (dict(found.repeats), found.problems) == ({why: 1}, [])
