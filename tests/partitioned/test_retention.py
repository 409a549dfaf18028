"""Retention of a partitioned table: runs are dropped with their partition, and those that must stay
are moved.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from dlq.intake.receive import take_in
from dlq.models import DeadLetterEntry
from dlq.retention import executions, pruning, run_partitions, unstored
from dlq.retention.batches import PruningPace
from dlq.retention.executions import PruningPosition
from dlq.retention.periods import as_set
from dlq.retention.terms import RetentionScope
from executions.database.clock import database_now
from executions.models import Workflow, WorkflowExecution
from runners import statements
from runners.models import Run
from runners.partitions import upkeep
from runners.partitions.layout import layout
from tests.support import admin_rows
from tests.support.aging import aged, left, runs_of
from tests.support.emptying import empty
from tests.support.failures import failure
from tests.support.partitioned import begin_in_the_past, id_of_day
from tests.support.workflows import default_workspace


@pytest.fixture
def orders(engine: None) -> Iterator[Workflow]:
    """Create a workflow and 40 days of partitions."""
    empty()
    default_workspace()
    begin_in_the_past(40)
    yield admin_rows.workflow()
    empty()
    default_workspace()


def old(of: Workflow, days: float, state: str = "SUCCESS", *, ended: float | None = None) -> Any:
    """Create an execution that began `days` days ago, and ended then, or `ended` days ago."""
    days_since = days if ended is None else ended
    return aged(of, -1 if state == "RUNNING" else days_since, state, id=id_of_day(days))


def prune() -> Any:
    pace = PruningPace(rest=0.0)
    return executions.prune(as_set(database_now()), pace, PruningPosition())[0]


def names() -> list[str]:
    return [one.name for one in layout().partitions]


def of_day(days: int) -> str:
    begins = database_now() - timedelta(days=days)
    return f"runners_run_{begins:%Y%m%d}_{begins + timedelta(days=1):%Y%m%d}"


def test_a_day_goes_with_its_partition(orders: Workflow) -> None:
    for days in (39, 36, 33):
        old(orders, days)
    kept = old(orders, 20)
    tally = prune()
    assert left() == {kept.pk}
    assert set(Run.objects.values_list("execution_id", flat=True)) == {kept.pk}
    assert (tally.rows, tally.parts["runs"]) == (3, 0)
    # Those of 40 to 32 days ago: the youngest period is 30 days, and a partition waits one more.
    assert tally.parts["partitions"] == 9
    assert of_day(32) not in names()
    assert of_day(31) in names()


def test_executions_wait_until_their_partition_is_over(orders: Workflow) -> None:
    waits = old(orders, 30.1)
    assert prune().rows == 0
    assert left() == {waits.pk}


def test_a_sleeper_and_a_dead_letter_outlive_their_partition(orders: Workflow) -> None:
    old(orders, 36)
    sleeper = old(orders, 36, "RUNNING")
    run = Run.objects.filter(execution=sleeper).first()
    assert run is not None
    Run.objects.filter(pk=run.pk).update(state="PENDING", finished_at=None)
    failed = old(orders, 35, "FAILED")
    dead = Run.objects.filter(execution=failed).first()
    assert dead is not None
    Run.objects.filter(pk=dead.pk).update(state="DLQ")
    with transaction.atomic():
        letter = take_in(run_id=dead.pk, failure=failure(), exhausted=False, manual=None)
    prune()
    assert left() == {sleeper.pk, failed.pk}
    assert runs_of(sleeper) == 2
    assert DeadLetterEntry.objects.select_related("run").get(pk=letter.pk).run is not None
    assert of_day(35) not in names()
    assert upkeep.long_name() in names()
    asked = {"execution": sleeper.pk, "run": run.pk, "token": run.lease_token, "delay": 5}
    assert statements.fetch("postpone_suspect", asked) == [(run.pk,)]
    # What is left of it goes row by row.
    Run.objects.filter(execution=sleeper).update(state="SUCCESS", finished_at=database_now())
    ended = {"state": "SUCCESS", "finished_at": database_now() - timedelta(days=31)}
    WorkflowExecution.objects.filter(pk=sleeper.pk).update(**ended)
    assert prune().parts["runs"] == 2
    assert left() == {failed.pk}


# Two executions with two runs each must stay.
@pytest.mark.parametrize(("limit", "most"), [("MOST_EXECUTIONS", 1), ("MOST_RUNS", 3)])
def test_of_a_partition_in_which_many_must_stay_rows_are_deleted(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch, limit: str, most: int
) -> None:
    monkeypatch.setattr(upkeep, limit, most)
    old(orders, 36)
    kept = [old(orders, 36, "FAILED") for _ in range(2)]
    tally = prune()
    assert (tally.rows, tally.parts["runs"]) == (1, 2)
    assert left() == {one.pk for one in kept}
    assert of_day(36) in names()
    assert Run.objects.count() == 4


def test_what_is_not_in_the_archive_keeps_its_runs(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unstored, "UNSTORED", [lambda rows: set(rows.values_list("pk", flat=True))])
    monkeypatch.setattr(upkeep, "MOST_EXECUTIONS", 1)
    waiting = [old(orders, 36) for _ in range(2)]
    prune()
    assert left() == {one.pk for one in waiting}
    assert Run.objects.count() == 4
    assert of_day(36) in names()
    monkeypatch.setattr(unstored, "UNSTORED", [])
    prune()
    assert left() == set()
    assert of_day(36) not in names()


def test_a_part_of_the_executions_releases_no_partition(orders: Workflow) -> None:

    old(orders, 36)
    scope = RetentionScope(workspace_id=orders.workspace_id)
    wanted = as_set(database_now(), scope)
    tally = executions.prune(wanted, PruningPace(rest=0.0), PruningPosition())[0]
    assert (tally.rows, tally.parts["runs"]) == (1, 2)
    assert of_day(36) in names()


def test_a_partition_that_a_crash_left_detached_is_dropped(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(upkeep, "_drop", _crash)
        with pytest.raises(ZeroDivisionError):
            prune()
    first = of_day(40)
    assert first not in names()
    assert first not in _tables()  # statements that name it fail
    assert f"{first}_detached" in _tables()
    prune()
    assert f"{first}_detached" not in _tables()


def test_a_turn_of_retention_drops_and_adds(orders: Workflow) -> None:
    old(orders, 36)
    assert run_partitions.add_ahead() > 0
    assert pruning.turn().counts["executions"] == 1
    assert of_day(36) not in names()
    assert upkeep.ahead(layout()) >= upkeep.AHEAD


def _crash(name: str) -> None:
    raise ZeroDivisionError(name)


def _tables() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r'")
        return {name for (name,) in cursor.fetchall()}
