"""Many dead steps are requeued in one transaction, while users lock some of them."""

from typing import Any
from uuid import UUID

from django.db import transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.discard import discard
from dlq.resolve.requeue import DeadStep, RequeuedTogether, requeue, requeue_together
from executions.models import Activity, WorkflowExecution
from runners.models import Run
from tests.support.rivals import Rivals
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, default_workspace, effect, publish, start_many, states

BROKEN = {"tasks": [effect("bad", failTimes=1, errorType="PERMANENT")]}
SUBJECT = UUID(int=7)


def dead(queue: World, count: int) -> list[DeadLetterEntry]:
    """Create dead letters, each in a separate execution."""
    ids = start_many(publish(BROKEN), [{}] * count)
    queue.drain()
    found = list(DeadLetterEntry.objects.filter(execution_id__in=ids).order_by("pk"))
    assert len(found) == count
    return found


def together(letters: list[DeadLetterEntry], **step: Any) -> RequeuedTogether:
    steps = [
        DeadStep(one.pk, one.run_id, one.execution_id, new_key=True, **step) for one in letters
    ]
    with transaction.atomic():
        return requeue_together(
            steps,
            workspace_id=default_workspace().pk,
            actor=ACTOR,
            notes="mended",
            yields=2,
            object_type="Batch",
            object_id=SUBJECT,
        )


def test_all_run_again_at_lower_priority_and_one_row_of_the_trail_names_them(
    queue: World,
) -> None:
    letters = dead(queue, 4)

    done = together(letters)

    assert (set(done.runs), done.outdated) == ({one.pk for one in letters}, [])
    runs = Run.objects.filter(pk__in=done.runs.values())
    assert list(runs.values_list("priority", flat=True)) == [3] * 4  # 5, the workflow's, less 2
    row = Activity.objects.get(object_type="Batch", object_id=str(SUBJECT))
    assert row.details["deadLetterIds"] == sorted(str(one.pk) for one in letters)
    queue.drain()
    assert set(states(one.execution_id for one in letters).values()) == {"SUCCESS"}


def test_what_is_resolved_or_held_is_left_as_it_is(queue: World, rivals: Rivals) -> None:
    free, gone, busy, read = dead(queue, 4)
    discard(gone.pk, actor=ACTOR)
    with transaction.atomic():
        WorkflowExecution.objects.select_for_update(no_key=True).get(pk=busy.execution_id)
        DeadLetterEntry.objects.select_for_update(no_key=True).get(pk=read.pk)
        done = rivals.begin(together, [free, gone, busy, read]).result(60)

    assert (set(done.runs), done.outdated) == ({free.pk}, [])
    kept = DeadLetterEntry.objects.filter(pk__in=[gone.pk, busy.pk, read.pk]).order_by("pk")
    assert [one.resolution for one in kept] == ["DISCARDED", "PENDING", "PENDING"]
    assert set(together([busy, read]).runs) == {busy.pk, read.pk}


def test_a_step_that_has_run_again_since_is_outdated(queue: World) -> None:
    (letter,) = dead(queue, 1)
    requeue(letter.pk, actor=ACTOR)
    queue.drain()
    WorkflowExecution.objects.filter(pk=letter.execution_id).update(
        state="FAILED", error_message="x"
    )
    DeadLetterEntry.objects.filter(pk=letter.pk).update(
        resolution="PENDING", resolved_at=None, expires_at=None
    )

    done = together([letter])

    assert (dict(done.runs), list(done.outdated)) == ({}, [letter.pk])
