"""Messages that the sweeper considers lost: empty queues, runs that later ones overtook."""

from uuid import UUID

import pytest
from celery import current_app
from django.db import connection

from executions.database.clock import database_now
from runners import statements
from runners.models import Run
from runners.recovery.sweeper import messages
from tests.support.segments import run_of
from tests.support.workflows import publish, start, task


def test_a_queue_that_holds_a_message_is_not_empty() -> None:
    with current_app.connection_for_write() as link:
        queue = link.SimpleQueue("held", serializer="json")
        queue.put({"n": 1})
        try:
            assert messages._empty({"held", "never-used"}) == {"never-used"}
        finally:
            queue.clear()
        assert messages._empty({"held"}) == {"held"}
        queue.close()


def sent(ago: int, times: int = 1, state: str = "PENDING") -> UUID:
    """Create a run whose last message was sent `ago` seconds ago; a pending run is late."""
    run = run_of(start(publish({"tasks": [task("work")]})), "work.main")
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE runners_run SET state = %(state)s, publications = %(times)s, due_at = now(), "
            "published_at = clock_timestamp() - %(ago)s * interval '1 second', "
            "leased_by = 'somebody', lease_token = 1, lease_until = now(), started_at = now(), "
            "finished_at = CASE WHEN %(over)s THEN now() END "
            "WHERE id = %(run)s",
            {"state": state, "over": state == "SUCCESS", "times": times, "ago": ago, "run": run.pk},
        )
    return run.pk


def overtaken() -> set[UUID]:
    rows = statements.fetch("recheck_unclaimed_runs", {"batch": 100, "patience": 10})
    return {run for _, run, is_overtaken, *_ in rows if is_overtaken}


@pytest.mark.django_db
def test_a_run_is_overtaken_by_one_sent_later_that_runs_already() -> None:
    late = sent(60)
    sent(45, state="RUNNING")
    assert overtaken() == {late}


@pytest.mark.django_db
def test_a_run_is_overtaken_by_one_sent_later_that_has_ended() -> None:
    """A run is overtaken by one that was sent later and has ended: steps that end at once are
    seldom seen running, and a long one may occupy the other slot.
    """
    late = sent(60)
    sent(45, state="SUCCESS")
    assert overtaken() == {late}


@pytest.mark.django_db
@pytest.mark.parametrize(("waited", "until"), [(12, 10), (50, 10), (70, 70), (300, 300)])
def test_in_its_first_minute_a_late_run_is_looked_at_often(waited: int, until: int) -> None:
    run = sent(waited)
    statements.fetch("recheck_unclaimed_runs", {"batch": 100, "patience": 10})
    due_at = Run.objects.values_list("due_at", flat=True).get(pk=run)
    assert due_at is not None
    assert (due_at - database_now()).total_seconds() == pytest.approx(until, abs=3)


@pytest.mark.django_db
def test_nobody_is_overtaken_by_one_sent_soon_after() -> None:
    sent(60)
    sent(55, state="RUNNING")
    assert overtaken() == set()


@pytest.mark.django_db
def test_nobody_is_overtaken_by_one_that_was_sent_again() -> None:
    sent(60)
    sent(1, times=2, state="RUNNING")
    assert overtaken() == set()


def wait_after_resending(ago: int, times: int) -> float:
    """Return the seconds after its second message at which the run is checked."""
    run = sent(ago, times)
    execution = Run.objects.get(pk=run).execution_id
    asked = {"runs": [run], "executions": [execution], "patience": 10}
    assert len(statements.fetch("mark_lost_runs_resent", asked)) == 1
    found = Run.objects.get(pk=run)
    assert found.publications == times + 1
    assert found.published_at is not None
    assert found.due_at is not None
    return (found.due_at - found.published_at).total_seconds()


@pytest.mark.django_db
def test_the_wait_doubles_with_each_message_that_is_lost() -> None:
    waits = [wait_after_resending(ago, times) for times, ago in enumerate([10, 20, 40, 80], 1)]
    assert waits == pytest.approx([20, 40, 80, 160], abs=2)
    assert wait_after_resending(10_000, 12) == pytest.approx(600, abs=1)


@pytest.mark.django_db
def test_messages_that_came_to_a_worker_do_not_lengthen_the_wait() -> None:
    """Messages that reached a worker do not lengthen the wait: twelve workers took the run and
    ended, and the message after that is the first lost one.
    """
    assert wait_after_resending(10, 12) == pytest.approx(20, abs=2)
