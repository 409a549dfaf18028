"""The dead letters that retention deletes, and those that it never deletes."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dlq.groups import status, tally
from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupFingerprint,
    GroupHour,
    GroupNews,
    Resolution,
)
from dlq.resolve import transitions
from dlq.retention.batches import PruningPace
from dlq.retention.periods import as_set, older_than
from dlq.retention.pruning import look, prune, turn
from executions.access.actor import Actor
from executions.database.clock import database_now, first_id_at
from executions.models import Workflow, WorkflowExecution
from tests.support import admin_rows
from tests.support.failures import fail

pytestmark = pytest.mark.django_db
ANN = Actor(None, "ann", "test")
LONG_AGO = timezone.now() - timedelta(days=60)


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


def resolved(of: Workflow, message: str = "it broke", **changes: Any) -> DeadLetterEntry:
    """Create a dead letter that was resolved so long ago that it has expired."""
    letter = fail(of, message)
    transitions.resolve(letter, Resolution.DISCARDED, actor=ANN)
    DeadLetterEntry.objects.filter(pk=letter.pk).update(expires_at=LONG_AGO, **changes)
    return letter


def kept() -> set[Any]:
    return set(DeadLetterEntry.objects.values_list("pk", flat=True))


def test_what_was_resolved_long_ago_is_deleted(orders: Workflow) -> None:
    for _ in range(5):
        resolved(orders)
    fresh = fail(orders)
    transitions.resolve(fresh, Resolution.DISCARDED, actor=ANN)

    assert turn().counts["dead letters"] == 5

    assert kept() == {fresh.pk}
    assert turn().counts["dead letters"] == 0


def test_what_is_open_or_pinned_or_of_a_live_execution_stays(orders: Workflow) -> None:
    still_open, pinned, live = fail(orders), resolved(orders, pinned=True), resolved(orders)
    DeadLetterEntry.objects.filter(pk=still_open.pk).update(expires_at=LONG_AGO)
    WorkflowExecution.objects.filter(pk=live.execution_id).update(state="RUNNING", finished_at=None)

    assert turn().counts["dead letters"] == 0
    assert kept() == {still_open.pk, pinned.pk, live.pk}

    WorkflowExecution.objects.filter(pk=live.execution_id).update(
        state="SUCCESS", finished_at=timezone.now()
    )
    assert turn().counts["dead letters"] == 1
    assert kept() == {still_open.pk, pinned.pk}


def set_days(settings: Any, days: int) -> None:
    settings.VALKYR = {**settings.VALKYR, "DLQ_RETENTION_DAYS": days}


def test_with_0_days_what_was_resolved_is_kept_forever(orders: Workflow, settings: Any) -> None:
    before = resolved(orders)
    set_days(settings, 0)
    discarded, requeued = fail(orders), fail(orders)
    transitions.resolve(discarded, Resolution.DISCARDED, actor=ANN)
    transitions.requeue_many(
        [transitions.GoneHome(requeued.pk)],
        actor=ANN,
        notes="",
        workspace_id=requeued.workspace_id,
        object_type="FailureGroup",
        object_id=requeued.group_id,
    )

    [seen] = look(("dead letters",), as_set(database_now()), PruningPace())
    assert (seen.rows, turn().counts["dead letters"]) == (0, 0)

    assert kept() == {before.pk, discarded.pk, requeued.pk}
    assert not DeadLetterEntry.objects.filter(expires_at__isnull=False).exists()
    assert not DeadLetterEntry.objects.filter(resolution=Resolution.PENDING).exists()


def test_what_was_kept_forever_expires_after_the_setting_changes(
    orders: Workflow, settings: Any
) -> None:
    set_days(settings, 0)
    old, fresh, still_open = (fail(orders) for _ in range(3))
    for letter in (old, fresh):
        transitions.resolve(letter, Resolution.DISCARDED, actor=ANN)
    DeadLetterEntry.objects.filter(pk=old.pk).update(
        id=first_id_at(LONG_AGO), resolved_at=LONG_AGO + timedelta(hours=1)
    )
    set_days(settings, 30)

    assert turn().counts["dead letters"] == 0
    assert turn().counts["dead letters"] == 1

    assert kept() == {fresh.pk, still_open.pk}


def test_an_age_that_is_given_applies_to_what_is_kept_forever(
    orders: Workflow, settings: Any
) -> None:
    set_days(settings, 0)
    letter, still_open = fail(orders), fail(orders)
    transitions.resolve(letter, Resolution.DISCARDED, actor=ANN)
    DeadLetterEntry.objects.filter(pk=letter.pk).update(resolved_at=LONG_AGO)
    wanted = older_than(30, database_now())

    assert [one.rows for one in look(("dead letters",), wanted, PruningPace())] == [1]
    assert [one.rows for one in prune(("dead letters",), wanted, PruningPace())] == [1]

    assert kept() == {still_open.pk}


def age(group_id: Any) -> None:
    FailureGroup.objects.filter(pk=group_id).update(
        status_at=LONG_AGO, last_seen=LONG_AGO, first_seen=LONG_AGO
    )


def test_a_group_that_is_over_and_empty_goes_after_what_leads_to_it(orders: Workflow) -> None:
    letter = resolved(orders)
    status.ignore(letter.group_id, actor=ANN)
    tally.fold()
    age(letter.group_id)

    first = turn().counts
    assert (first["dead letters"], first["groups"], first["fingerprints"]) == (1, 0, 1)
    assert FailureGroup.objects.exists()
    assert not GroupFingerprint.objects.exists()
    assert turn().counts["groups"] == 1
    assert not FailureGroup.objects.exists()

    again = fail(orders)
    assert again.group_id != letter.group_id


def test_with_0_days_groups_that_are_over_are_kept(orders: Workflow, settings: Any) -> None:
    letter = resolved(orders)
    status.ignore(letter.group_id, actor=ANN)
    tally.fold()
    turn()
    age(letter.group_id)
    set_days(settings, 0)

    for _ in range(2):
        counts = turn().counts
        assert (counts["groups"], counts["fingerprints"]) == (0, 0)


@pytest.mark.parametrize("what", ["entry", "news", "status", "seen"])
def test_a_group_of_which_something_is_left_stays(orders: Workflow, what: str) -> None:
    letter = fail(orders) if what == "entry" else resolved(orders)
    if what != "status":
        status.resolve(letter.group_id, actor=ANN)
    tally.fold()
    age(letter.group_id)
    if what == "news":
        GroupNews.objects.create(group_id=letter.group_id, seen=1, open=1)
    if what == "seen":
        FailureGroup.objects.update(last_seen=timezone.now())

    for _ in range(2):
        assert turn().counts["groups"] == 0


def test_hours_are_kept_for_eight_days(orders: Workflow) -> None:
    letter = fail(orders)
    now = timezone.now()
    for days in (1, 7, 9, 30):
        hour = now - timedelta(days=days)
        GroupHour.objects.create(group_id=letter.group_id, hour=hour, count=1)

    assert turn().counts["hours"] == 2
    assert GroupHour.objects.filter(hour__lt=now - timedelta(days=8)).count() == 0
