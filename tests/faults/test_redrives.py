"""A redrive whose driver is killed repeatedly sends no entry twice, and forgets none."""

from collections import Counter

from django.db.models import Count

from dlq.models import DeadLetterEntry
from executions.models import Activity
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start_many, wait_for_end
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.lifecycle import RedriveOptions, make
from valkyr_plugins.redrive.models import Redrive, RedriveItem

BROKEN = {"tasks": [effect("bad", failTimes=1, errorType="PERMANENT")]}
ENTRIES = 120


def begun(count: int, **wish: object) -> Redrive:
    """Start a redrive of new dead letters, each in a separate execution."""
    ids = start_many(publish(BROKEN), [{}] * count)
    wait_for_end(ids)
    rows = DeadLetterEntry.objects.filter(execution_id__in=ids)
    redrive = make(rows, RedriveOptions(**wish), actor=ACTOR)  # type: ignore[arg-type]
    assert redrive.total == count
    return lifecycle.start(redrive.pk, actor=ACTOR)


def sent(redrive: Redrive) -> int:
    redrive.refresh_from_db()
    return redrive.sent


def over(redrive: Redrive) -> bool:
    redrive.refresh_from_db()
    return redrive.state == "DONE"


def test_a_driver_killed_again_and_again_sends_nothing_twice_and_forgets_nothing(
    fleet: Fleet,
) -> None:
    redrive = begun(ENTRIES, rate=40.0)
    for part in (10, ENTRIES // 3, 2 * ENTRIES // 3):
        wait_until(lambda part=part: sent(redrive) >= part, 60, f"{part} entries sent")
        fleet["control"].kill()
        # Everything sent is recorded, and everything recorded is sent, whenever it was killed.
        items = RedriveItem.objects.filter(redrive=redrive).exclude(run_id=None)
        entries = DeadLetterEntry.objects.filter(
            redrive_items__redrive=redrive, resolution="REQUEUED"
        )
        assert items.count() == entries.count() == sent(redrive)
        fleet.ensure()
    wait_until(lambda: over(redrive), 90, "the redrive's end")

    executions = list(
        DeadLetterEntry.objects.filter(redrive_items__redrive=redrive).values_list(
            "execution_id", flat=True
        )
    )
    wait_for_end(executions)
    tries = Run.objects.filter(execution_id__in=executions).values("execution_id")
    assert Counter(tries.annotate(n=Count("pk")).values_list("n", flat=True)) == {2: ENTRIES}
    assert (redrive.succeeded, redrive.failed_again, redrive.skipped) == (ENTRIES, 0, 0)
    audit(executions)


def test_a_pace_is_kept_by_the_databases_clock(fleet: Fleet) -> None:
    """A pace is kept by the database's clock.

    Each batch leaves an audit entry with its time, so both bounds hold on any machine. Nothing is
    early: by the time of a batch, no more entries were sent than the pace allows since the start.
    Nothing is lost: a batch is decided after the previous one was written, and sends all entries
    that were due by then. (At this rate, a delay of `CATCH_UP` seconds fits into one batch; entries
    that are dropped beyond it move `pace_since`.)
    """
    rate = 15.0
    redrive = begun(60, rate=rate)
    wait_until(lambda: over(redrive), 90, "the redrive's end")
    assert redrive.succeeded == 60
    assert redrive.started_at is not None
    assert redrive.pace_since is not None

    lines = Activity.objects.filter(object_id=redrive.pk, action="dead_letter.requeued")
    total, before = 0, redrive.started_at
    for line in lines.order_by("pk"):
        total += len(line.details["deadLetterIds"])
        assert total <= (line.created_at - redrive.started_at).total_seconds() * rate + 1
        assert total >= min(60, (before - redrive.pace_since).total_seconds() * rate - 1)
        before = line.created_at
    assert total == 60
