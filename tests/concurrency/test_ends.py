"""The end of a segment: locked, recorded and looked around in one round trip."""

import pytest
from django.db import OperationalError, connection, transaction

from runners import statements
from runners.pipeline import receive
from runners.workers import connections
from tests.support.auditor import audit
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.round_trips import round_trips
from tests.support.segments import claimed, recorded, run_of
from tests.support.simulation import World
from tests.support.workflows import effect, publish, start, states, task

BRANCHES = {"tasks": [effect("a"), effect("b")]}


def test_of_two_last_branches_the_one_that_waited_ends_the_execution(
    queue: World, rivals: Rivals
) -> None:
    """What it reads after the wait is newer than the statement that waited."""
    execution = start(publish(BRANCHES))
    first, second = claimed(execution, "a.main"), claimed(execution, "b.main")
    with transaction.atomic():
        recorded(first)
        other = rivals.begin(recorded, second)
        wait_until_blocked(my_session())
    assert other.result(10) is None
    assert [run_of(execution, path).state for path in ("a.main", "b.main")] == ["SUCCESS"] * 2
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_a_lock_that_is_waited_for_too_long_leaves_a_session_that_works(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(BRANCHES))
    first, second = claimed(execution, "a.main"), claimed(execution, "b.main")

    def impatient() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        with pytest.raises(OperationalError, match="lock timeout"):
            recorded(second)
        row = statements.fetch_one("in_flight", {"execution": execution})
        return bool(row and row[0])

    with transaction.atomic():
        recorded(first)
        assert rivals.begin(impatient).result(10), "nothing of it was written"
    recorded(second)
    assert states([execution])[execution] == "SUCCESS"


def test_an_execution_of_one_step_takes_six_round_trips(queue: World) -> None:
    """Load; claim; begin; lock, complete and measure; finish; commit."""
    workflow = publish({"tasks": [task("only")]})
    for _ in ("first", "prepared"):
        execution = start(workflow)
        message = queue.queue.pop()
        connections.tidy()
        with round_trips() as trips:
            receive.run_segment(message.execution, message.version, message.segment)
        assert states([execution])[execution] == "SUCCESS"
    assert len(trips) == 6
