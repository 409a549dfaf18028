"""The executions of an old partition are deleted together, except for those that must stay.

`bulk.clear` is called alone, so that the walk, which decides family by family, hides no mistake.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest
from django.db import connection

from dlq.models import DeadLetterEntry, Resolution
from dlq.retention import bulk, executions, unstored
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.executions import PruningPosition
from dlq.retention.periods import as_set
from dlq.retention.run_partitions import RunPartitions
from executions.database.clock import database_now
from executions.models import (
    CronTick,
    ExecutionLabel,
    RefusedMessage,
    Trigger,
    Workflow,
    WorkflowExecution,
)
from executions.vendor_seams.django_deletion import delete_without_cascade
from runners.models import EarlyCallback, Run
from tests.partitioned.test_retention import names, of_day, old, orders
from tests.support import admin_rows
from tests.support.aging import aged, left, runs_of
from tests.support.copies import session
from tests.support.partitioned import id_of_day
from valkyr_plugins.timetravel.models import Checkpoint

__all__ = ["orders"]
FORKED = """
INSERT INTO executions_workflowexecution
SELECT (jsonb_populate_record(e, jsonb_build_object(
       'id', uuidv7(), 'origin_id', e.id, 'state', 'RUNNING', 'finished_at', NULL))).*
  FROM executions_workflowexecution e WHERE e.id = %s
"""
COPIED = "CREATE TABLE restored AS SELECT * FROM executions_workflowexecution WHERE id = %s"
PUT_BACK = "INSERT INTO executions_workflowexecution SELECT * FROM restored ON CONFLICT DO NOTHING"
REOPENED = """
UPDATE executions_workflowexecution SET state = 'RUNNING', finished_at = NULL WHERE id = %s
"""


def clear(batch: int = 500) -> PruningTally:
    """Delete what goes together, in all released partitions."""
    wanted, tally = as_set(database_now()), PruningTally("executions")
    before = executions.horizon(wanted)
    assert before is not None
    for one in RunPartitions.of(wanted).released():
        bulk.clear(one, wanted, before, PruningPace(rest=0.0, batch=batch), tally)
    return tally


def prune() -> PruningTally:
    pace = PruningPace(rest=0.0)
    return executions.prune(as_set(database_now()), pace, PruningPosition())[0]


def test_everything_that_belongs_to_an_execution_goes_with_it(orders: Workflow) -> None:
    trigger = Trigger.objects.create(workflow=orders, type="CRON", settings={"cron": "* * * * *"})
    gone, kept = old(orders, 36), old(orders, 36, "FAILED")
    for one in (gone, kept):
        CronTick.objects.create(trigger=trigger, fire_at=one.created_at, execution=one)
        EarlyCallback.objects.create(execution=one, step_path="a.main")
        ExecutionLabel.objects.create(
            execution=one, name="order", value="7", workspace_id=one.workspace_id,
            workflow_id=one.workflow_id, state=one.state,
        )  # fmt: skip

    tally = clear()

    assert (tally.rows, left()) == (1, {kept.pk})
    assert tally.first is not None
    for model in (CronTick, EarlyCallback, ExecutionLabel, Checkpoint):
        assert [one.execution_id for one in model.objects.all()] == [kept.pk]  # type: ignore[attr-defined]
    # The runs go with the partition.
    assert runs_of(gone) == 2
    assert of_day(36) in names()
    prune()
    assert set(Run.objects.values_list("execution_id", flat=True)) == {kept.pk}
    assert of_day(36) not in names()


def test_executions_stay_that_are_unfinished_or_not_expired(orders: Workflow) -> None:
    kept = [old(orders, 36, "RUNNING"), old(orders, 36, "FAILED"), old(orders, 36, ended=3)]
    for _ in range(3):
        old(orders, 36)
    assert clear().rows == 3
    assert left() == {one.pk for one in kept}


def test_executions_stay_that_a_dead_letter_refers_to(orders: Workflow) -> None:
    failed, requeued = old(orders, 36, "FAILED", ended=100), old(orders, 36)
    letter = admin_rows.dead_letter(Run.objects.filter(execution=failed)[0])
    young = admin_rows.dead_letter(Run.objects.filter(execution=old(orders, 2, "FAILED"))[0])
    DeadLetterEntry.objects.filter(pk=young.pk).update(
        requeued_execution=requeued, resolution=Resolution.REQUEUED, resolved_at=database_now()
    )
    before = left()
    assert clear().rows == 0
    assert left() == before
    delete_without_cascade(DeadLetterEntry.objects.filter(pk__in=[letter.pk, young.pk]))
    assert clear().rows == 2


def test_an_origin_stays_while_its_fork_runs_and_the_walk_deletes_it_later(
    orders: Workflow,
) -> None:
    origin, other = old(orders, 36), old(orders, 36)
    fork = aged(orders, -1, origin=origin)
    over = aged(orders, 2, origin=other)
    assert clear().rows == 0
    prune()
    assert left() == {origin.pk, fork.pk, over.pk}
    assert WorkflowExecution.objects.get(pk=over.pk).origin_id is None
    ended = {"state": "SUCCESS", "finished_at": database_now()}
    WorkflowExecution.objects.filter(pk=fork.pk).update(**ended)
    prune()
    assert left() == {fork.pk, over.pk}


def test_a_refused_message_survives_the_execution_that_it_started(orders: Workflow) -> None:
    trigger = Trigger.objects.create(workflow=orders, type="QUEUE", settings={})
    started = old(orders, 36)
    message = RefusedMessage.objects.create(trigger=trigger, code="c", execution=started)
    assert clear().rows == 0
    prune()
    message.refresh_from_db()
    assert (left(), message.execution_id) == (set(), None)


@pytest.mark.parametrize("batch", [6, 500])
def test_families_go_as_a_whole_or_stay(
    orders: Workflow, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "TIMES", 1)

    def family(*endings: str, days: float = 36) -> list[Any]:
        root = old(orders, days)
        child = aged(orders, days, parent=root, depth=1, id=id_of_day(days))
        last = aged(
            orders, days, endings[0] if endings else "SUCCESS",
            failure_of=child, id=id_of_day(days),
        )  # fmt: skip
        return [root, child, last]

    family()
    kept = family("FAILED")
    # A child in a later partition, whose runs do not go with this one.
    root = old(orders, 36)
    across = [root, aged(orders, 33.5, parent=root, depth=1, id=id_of_day(33.5))]
    assert clear(batch).rows == 3
    assert left() == {one.pk for one in (*kept, *across)}
    prune()
    assert left() == {one.pk for one in kept}


def test_a_large_family_is_left_to_the_walk(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "TIMES", 1)
    root = old(orders, 36)
    for _ in range(4):
        aged(orders, 36, parent=root, depth=1, id=id_of_day(36))
    old(orders, 35)
    assert clear(batch=3).rows == 1
    prune()
    assert left() == set()


def test_executions_stay_until_they_are_in_the_archive(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, single, stored = old(orders, 36), old(orders, 36), old(orders, 36)
    child = aged(orders, 36, parent=root, depth=1, id=id_of_day(36))
    waiting = {child.pk, single.pk}

    def missing(rows: Any) -> set[UUID]:
        assert connection.in_atomic_block
        return waiting & set(rows.values_list("pk", flat=True))

    monkeypatch.setattr(unstored, "UNSTORED", [missing])
    assert clear().rows == 1
    assert left() == {root.pk, child.pk, single.pk}
    assert stored.pk not in left()
    waiting.clear()
    assert clear().rows == 3


def test_a_partition_that_the_archive_has_not_reached_is_left_to_the_walk(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[UUID] = []

    def missing(rows: Any) -> set[UUID]:
        found = set(rows.values_list("pk", flat=True))
        asked.extend(found)
        return found

    waiting = {old(orders, 36).pk for _ in range(5)}
    monkeypatch.setattr(bulk, "TIMES", 1)
    monkeypatch.setattr(unstored, "UNSTORED", [missing])
    tally = clear(batch=1)
    assert (tally.rows, tally.more, len(asked)) == (0, False, bulk.MOST_IDLE)
    assert left() == waiting


def test_a_table_of_the_project_keeps_its_executions(orders: Workflow) -> None:
    kept = old(orders, 36)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE own (execution uuid NOT NULL REFERENCES executions_workflowexecution)"
        )
        cursor.execute("INSERT INTO own VALUES (%s)", [kept.pk])
        try:
            assert clear().rows == 0
            assert left() == {kept.pk}
            assert runs_of(kept) == 2
            assert Checkpoint.objects.filter(execution=kept).exists()
            cursor.execute("DELETE FROM own")
            assert clear().rows == 1
        finally:
            cursor.execute("DROP TABLE own")


@contextmanager
def role_without_rights() -> Iterator[None]:
    """Continue as a role that may write the tables, but not skip the checks of foreign keys."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE valkyr_plain")
        cursor.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO valkyr_plain")
        cursor.execute("SET ROLE valkyr_plain")
        try:
            yield
        finally:
            cursor.execute("RESET ROLE")
            cursor.execute("DROP OWNED BY valkyr_plain")
            cursor.execute("DROP ROLE valkyr_plain")


def test_a_role_that_may_not_skip_checks_deletes_the_same(orders: Workflow) -> None:
    old(orders, 36)
    root = old(orders, 35)
    aged(orders, 35, parent=root, depth=1, id=id_of_day(35))
    kept = old(orders, 36, "FAILED")
    with role_without_rights():
        assert clear().rows == 3
    assert left() == {kept.pk}
    assert set(Checkpoint.objects.values_list("execution_id", flat=True)) == {kept.pk}


def test_a_trigger_on_executions_fires(orders: Workflow) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE seen (id uuid)")
        cursor.execute(
            "CREATE FUNCTION note_deleted() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN INSERT INTO seen VALUES (OLD.id); RETURN OLD; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER seen BEFORE DELETE ON executions_workflowexecution"
            " FOR EACH ROW EXECUTE FUNCTION note_deleted()"
        )
        try:
            gone = old(orders, 36)
            assert clear().rows == 1
            cursor.execute("SELECT id FROM seen")
            assert cursor.fetchall() == [(gone.pk,)]
        finally:
            cursor.execute("DROP TRIGGER seen ON executions_workflowexecution")
            cursor.execute("DROP FUNCTION note_deleted(); DROP TABLE seen")


# Other sessions at the same time.


def test_an_execution_that_is_being_reopened_stays(orders: Workflow) -> None:
    opened, gone = old(orders, 36), old(orders, 36)
    with session() as other, other.transaction():
        other.execute(REOPENED, [opened.pk])
        assert clear().rows == 1
    assert gone.pk not in left()
    prune()
    assert left() == {opened.pk}
    assert runs_of(opened) == 2
    assert of_day(36) not in names()


def test_a_family_stays_while_another_session_holds_a_member(orders: Workflow) -> None:
    root = old(orders, 36)
    child = aged(orders, 36, parent=root, depth=1, id=id_of_day(36))
    with session() as other, other.transaction():
        other.execute(REOPENED, [child.pk])
        assert clear().rows == 0
    assert left() == {root.pk, child.pk}


def test_a_fork_fails_if_its_origin_was_deleted_before_it_committed(orders: Workflow) -> None:
    origin = old(orders, 36)
    with session() as other:
        other.execute("SET session_replication_role = origin")
        other.execute(FORKED, [origin.pk])
        assert clear().rows == 1
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            other.commit()
    assert left() == set()


def test_an_execution_restored_during_the_deletion_is_moved(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The restored row is in the range of IDs, and appears after the others were locked."""
    restored, gone = old(orders, 36), old(orders, 36)
    with connection.cursor() as cursor:
        cursor.execute(COPIED, [restored.pk])
        cursor.execute("UPDATE restored SET state = 'RUNNING', finished_at = NULL")
        cursor.execute("DELETE FROM executions_checkpoint WHERE execution_id = %s", [restored.pk])
        cursor.execute("DELETE FROM executions_workflowexecution WHERE id = %s", [restored.pk])

    def put_back(rows: Any) -> set[UUID]:
        with session() as other:
            other.execute(PUT_BACK)
        return set()

    monkeypatch.setattr(unstored, "UNSTORED", [put_back])
    try:
        assert clear().rows == 1
        assert left() == {restored.pk}
        assert gone.pk not in left()
        monkeypatch.setattr(unstored, "UNSTORED", [])
        prune()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE restored")
    assert left() == {restored.pk}
    assert runs_of(restored) == 2
    assert of_day(36) not in names()
