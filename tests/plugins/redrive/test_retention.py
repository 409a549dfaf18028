"""Retention keeps what a redrive needs, and deletes ended redrives."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from dlq.models import DeadLetterEntry, FailureGroup, Resolution
from dlq.resolve import transitions
from dlq.retention import pruning
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.by_age import weigh
from dlq.retention.periods import as_set
from dlq.retention.pruning import turn
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import Workflow, WorkflowExecution
from tests.support import admin_rows
from tests.support.failures import fail
from valkyr_plugins.redrive.models import Redrive, RedriveItem, RedriveState

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=400)


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


@pytest.fixture
def letter(orders: Workflow) -> DeadLetterEntry:
    """Create a dead letter and its execution, both of which have expired."""
    made = fail(orders)
    transitions.resolve(made, Resolution.DISCARDED, actor=Actor(None, "ann", "test"))
    DeadLetterEntry.objects.filter(pk=made.pk).update(expires_at=LONG_AGO)
    WorkflowExecution.objects.filter(pk=made.execution_id).update(
        state="FAILED", created_at=LONG_AGO, started_at=LONG_AGO, finished_at=LONG_AGO
    )
    return made


def held(letter: DeadLetterEntry) -> RedriveItem:
    redrive = Redrive.objects.create(
        workspace_id=letter.workspace_id, created_by_name="ann", selection={}, state="PAUSED"
    )
    return RedriveItem.objects.create(redrive=redrive, entry=letter, active=True)


def looked_at() -> dict[str, PruningTally]:
    """Return the numbers of the preview, by kind."""
    kinds = ("dead letters", "executions")
    found = pruning.look(kinds, as_set(database_now()), PruningPace(rest=0.0))
    return {tally.kind: tally for tally in found}


def test_what_a_redrive_holds_stays(letter: DeadLetterEntry) -> None:
    item = held(letter)

    assert turn().counts["dead letters"] == 0

    RedriveItem.objects.filter(pk=item.pk).update(active=None, state="SUCCEEDED")
    assert turn().counts["dead letters"] == 1
    assert not RedriveItem.objects.exists()


def test_a_look_ahead_says_what_stays_for_a_redrive(letter: DeadLetterEntry) -> None:
    item = held(letter)

    assert {kind: tally.rows for kind, tally in looked_at().items()} == {
        "dead letters": 0,
        "executions": 0,
    }
    assert list(looked_at()["executions"].kept.values()) == [1]

    RedriveItem.objects.filter(pk=item.pk).update(active=None)
    assert {kind: tally.rows for kind, tally in looked_at().items()} == {
        "dead letters": 1,
        "executions": 1,
    }


def test_redrives_that_are_over_go_with_their_items(orders: Workflow) -> None:
    letter = fail(orders)
    ended = timezone.now() - timedelta(days=100)
    made = {
        state: Redrive.objects.create(
            workspace_id=orders.workspace_id, created_by_name="ann", selection={}, state=state,
            finished_at=ended,
        )
        for state in (RedriveState.DONE, RedriveState.STOPPED)
    }  # fmt: skip
    for redrive in made.values():
        RedriveItem.objects.create(redrive=redrive, entry=letter)

    assert "redrives" in pruning.kinds()
    assert turn().counts["redrives"] == 1

    assert Redrive.objects.get() == made[RedriveState.STOPPED]
    assert RedriveItem.objects.count() == 1
    assert weigh(PruningTally("redrives", 10)) > 0


def test_rows_of_the_engine_go_though_nobody_knows_of_redrives(orders: Workflow) -> None:
    """The engine deletes its rows, as if the plugin were removed and its tables stayed."""
    entry, again = fail(orders), fail(orders)
    ann = User.objects.create(username="ann")
    redrive = Redrive.objects.create(
        workspace_id=orders.workspace_id, group_id=entry.group_id, created_by=ann,
        created_by_name="ann", selection={},
    )  # fmt: skip
    RedriveItem.objects.create(redrive=redrive, entry=entry)
    kept = RedriveItem.objects.create(
        redrive=redrive, entry=fail(orders, "another kind"), again=again
    )

    with connection.cursor() as cursor:
        for row in (entry, again, ann):
            cursor.execute(f"DELETE FROM {row._meta.db_table} WHERE id = %s", [row.pk])
        group = FailureGroup._meta.db_table
        cursor.execute("DELETE FROM dlq_groupnews")
        cursor.execute("DELETE FROM dlq_groupfingerprint WHERE group_id = %s", [entry.group_id])
        cursor.execute(f"DELETE FROM {group} WHERE id = %s", [entry.group_id])
    connection.check_constraints()

    redrive.refresh_from_db()
    assert (redrive.group_id, redrive.created_by_id) == (None, None)
    assert list(RedriveItem.objects.values_list("pk", "again")) == [(kept.pk, None)]


@pytest.mark.parametrize(
    ("question", "index"),
    [
        ("DELETE FROM dlq_redriveitem WHERE entry_id = %s", "dlq_redriveitem_entry_id"),
        ("UPDATE dlq_redriveitem SET again_id = NULL WHERE again_id = %s", "redrive_item_again"),
        # Two indexes lead with the entry, and the planner may take either of them.
        ("SELECT id FROM dlq_redriveitem WHERE entry_id = %s AND active", "_entry_"),
    ],
)
def test_what_names_a_dead_letter_is_found_by_an_index(
    orders: Workflow, question: str, index: str
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {question}", [fail(orders).pk])
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert index in plan
