"""Tests of redrives, turn by turn, with users, rivals and limits, on a real PostgreSQL."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import Count

from dlq import events
from dlq.events import StoppedRedrive
from dlq.models import DeadLetterEntry, GroupStatus
from dlq.ports import stopped_redrives
from dlq.resolve.discard import discard
from dlq.resolve.requeue import requeue
from executions import addresses
from executions import lifecycle as executions
from executions.access.actor import Actor
from executions.errors import WrongState
from executions.models import Activity, Tier, WorkflowExecution
from runners.models import Run
from tests.plugins.redrive.redriving import (
    BROKEN,
    HOPELESS,
    begun,
    dead,
    items,
    made,
    to_the_end,
    told,
)
from tests.support.rivals import Rivals
from tests.support.single_thread import World
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    effect,
    limited_workspace,
    publish,
    start,
    start_many,
    states,
)
from valkyr_plugins.redrive import driver, lifecycle, sending
from valkyr_plugins.redrive.items import Queued, held_by, queued
from valkyr_plugins.redrive.lifecycle import RedriveOptions, make
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.patching import Patched


def test_many_dead_steps_run_again_and_their_executions_end_well(queue: World) -> None:
    letters = dead(queue, 7)

    redrive = to_the_end(queue, begun(letters, reason="mended"))

    assert (redrive.state, redrive.total, redrive.sent, redrive.succeeded) == ("DONE", 7, 7, 7)
    assert redrive.running == redrive.failed_again == redrive.skipped == 0
    entries = list(DeadLetterEntry.objects.filter(pk__in=letters))
    assert {entry.resolution for entry in entries} == {"REQUEUED"}
    assert {entry.notes for entry in entries} == {"mended"}
    assert set(states(entry.execution_id for entry in entries).values()) == {"SUCCESS"}
    by_entry = items(redrive)
    assert {e.requeued_run_id for e in entries} == {i.run_id for i in by_entry.values()}
    assert {item.active for item in by_entry.values()} == {None}
    line = Activity.objects.get(object_id=redrive.pk, action="dead_letter.requeued")
    assert line.details["deadLetterIds"] == sorted(str(pk) for pk in letters)


def test_two_operators_who_redrive_overlapping_sets_at_once_send_nothing_twice(
    queue: World, rivals: Rivals
) -> None:
    letters = dead(queue, 12)
    mine, theirs = made(letters[:8]), made(letters[4:])

    both = [rivals.begin(lifecycle.start, each.pk, actor=ACTOR) for each in (mine, theirs)]
    for future in both:
        future.result(60)
    turns = [rivals.begin(driver.drive) for _ in range(6)]
    for turn in turns:
        turn.result(60)
    queue.drain()
    to_the_end(queue, mine)
    to_the_end(queue, theirs)

    sent = [item for one in (mine, theirs) for item in items(one).values() if item.run_id]
    assert Counter(item.entry_id for item in sent) == dict.fromkeys(letters, 1)
    refused = [item for one in (mine, theirs) for item in items(one).values() if not item.run_id]
    assert len(refused) == 4
    assert all(
        item.state == "SKIPPED" and item.reason.endswith(" holds the dead letter.")
        for item in refused
    )
    assert runs_by_entry(letters) == dict.fromkeys(letters, 2)


def runs_by_entry(letters: Sequence[UUID]) -> dict[UUID, int]:
    """Return the number of attempts of each entry's step."""
    rows = DeadLetterEntry.objects.filter(pk__in=letters)
    return dict(rows.annotate(runs=Count("execution__runs")).values_list("pk", "runs"))


def test_many_drivers_at_once_send_each_entry_once(queue: World, rivals: Rivals) -> None:
    letters = dead(queue, 150)
    redrive = begun(letters, max_in_flight=40)

    for _ in range(8):
        for future in [rivals.begin(driver.drive) for _ in range(4)]:
            future.result(60)
        redrive.refresh_from_db()
        assert redrive.running <= 40
        queue.drain()
    to_the_end(queue, redrive)

    assert redrive.succeeded == 150
    assert set(runs_by_entry(letters).values()) == {2}


def test_who_fails_again_is_counted_and_points_at_the_new_dead_letter(queue: World) -> None:
    letters = dead(queue, 3, HOPELESS)

    redrive = to_the_end(queue, begun(letters))

    assert (redrive.state, redrive.failed_again) == ("DONE", 3)
    for pk, item in items(redrive).items():
        assert item.state == "FAILED_AGAIN"
        assert item.again is not None
        assert (item.again.follows_id, item.again.redrives) == (pk, 1)
        assert item.again.resolution == "PENDING"


def test_what_was_requeued_or_discarded_by_hand_meanwhile_is_skipped(queue: World) -> None:
    letters = dead(queue, 4)
    draft = made(letters)
    requeue(letters[0], actor=ACTOR)
    lifecycle.start(draft.pk, actor=ACTOR)
    discard(letters[1], actor=ACTOR, notes="known")

    redrive = to_the_end(queue, draft)

    assert told(redrive) == ["SKIPPED", "SKIPPED", "SUCCEEDED", "SUCCEEDED"]
    by_entry = items(redrive)
    before, after = (by_entry[pk].reason for pk in letters[:2])
    assert before == "The dead letter was requeued before the redrive began."
    assert after == "The dead letter was discarded after the redrive began."
    assert (redrive.total, redrive.sent, redrive.skipped) == (4, 2, 2)


def test_a_step_of_a_cancelled_execution_is_skipped_whenever_it_was_cancelled(
    queue: World,
) -> None:
    slow = {"tasks": [effect("bad", failTimes=1, errorType="PERMANENT"), effect("slow")]}
    ids = start_many(publish(slow), [{}] * 2)
    queue.drain()
    letters = list(
        DeadLetterEntry.objects.filter(execution_id__in=ids)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    redrive = begun(letters)
    driver.drive()
    # Sent, and no worker runs: cancelled in progress.
    for pk in ids:
        executions.cancel(pk, actor=ACTOR)

    to_the_end(queue, redrive)

    assert told(redrive) == ["SKIPPED", "SKIPPED"]
    assert {item.reason for item in items(redrive).values()} == {"The execution was cancelled."}


def test_a_paused_redrive_sends_nothing_and_goes_on_when_resumed(queue: World) -> None:
    letters = dead(queue, 6)
    redrive = begun(letters, max_in_flight=2)
    driver.drive()
    lifecycle.pause(redrive.pk, actor=ACTOR, reason="lunch")
    for _ in range(3):
        queue.drain()
        driver.drive()
    redrive.refresh_from_db()
    assert (redrive.state, redrive.sent, redrive.succeeded, redrive.busy) == ("PAUSED", 2, 2, False)

    lifecycle.resume(redrive.pk, actor=ACTOR)

    assert to_the_end(queue, redrive).succeeded == 6
    lines = Activity.objects.filter(object_id=redrive.pk, action__startswith="redrive.")
    verbs = list(lines.order_by("pk").values_list("action", flat=True))
    assert verbs == [f"redrive.{verb}" for verb in ("make", "start", "pause", "resume", "done")]


def test_an_aborted_redrive_leaves_the_rest_open_and_lets_go_of_it(queue: World) -> None:
    letters = dead(queue, 5)
    redrive = begun(letters, max_in_flight=2)
    driver.drive()
    lifecycle.abort(redrive.pk, actor=ACTOR)
    to_the_end(queue, redrive)

    assert redrive.state == "ABORTED"
    assert Counter(told(redrive)) == {"SUCCEEDED": 2, "ABORTED": 3}
    left = DeadLetterEntry.objects.filter(pk__in=letters, resolution="PENDING")
    assert left.count() == 3
    again = to_the_end(queue, begun(list(left.values_list("pk", flat=True))))
    assert again.succeeded == 3


def test_a_redrive_moves_only_where_its_state_allows(queue: World) -> None:
    redrive = to_the_end(queue, begun(dead(queue, 1)))

    for move in (lifecycle.start, lifecycle.pause, lifecycle.resume, lifecycle.abort):
        with pytest.raises(WrongState, match="it is DONE"):
            move(redrive.pk, actor=ACTOR)


def test_canaries_go_first_and_stop_it_where_they_fail(queue: World) -> None:
    letters = dead(queue, 6, HOPELESS)
    said: list[StoppedRedrive] = []

    def note(stopped: StoppedRedrive, **_: Any) -> None:
        said.append(stopped)

    events.redrive_stopped.connect(note)
    redrive = begun(letters, canary=2)
    for _ in range(4):
        driver.drive()
        redrive.refresh_from_db()
        assert redrive.sent == 2
    queue.drain()
    driver.drive()
    redrive.refresh_from_db()

    assert (redrive.state, redrive.sent, redrive.failed_again) == ("STOPPED", 2, 2)
    assert [(one.redrive_id, one.reason) for one in said] == [(redrive.pk, redrive.stop_reason)]
    assert said[0].path == addresses.page("valkyr_redrive_redrive", redrive.pk)
    assert stopped_redrives([redrive.pk]) == {redrive.pk}
    assert "2 failed again (100 %" in redrive.stop_reason
    group = redrive.items.earliest("pk").entry.group
    assert group.status != GroupStatus.REDRIVING

    lifecycle.resume(redrive.pk, actor=ACTOR, reason="never mind")
    assert to_the_end(queue, redrive).failed_again == 6


def test_canaries_that_end_well_let_the_others_follow(queue: World) -> None:
    redrive = begun(dead(queue, 5), canary=2)
    driver.drive()
    redrive.refresh_from_db()
    assert redrive.sent == 2

    assert to_the_end(queue, redrive).succeeded == 5


def test_too_many_that_fail_again_stop_it(queue: World) -> None:
    redrive = begun(dead(queue, 30, HOPELESS), stop_above=20, stop_window=10)
    for _ in range(4):
        driver.drive()
        queue.drain()
    redrive.refresh_from_db()

    assert (redrive.state, redrive.sent) == ("STOPPED", 10)
    assert redrive.stop_reason == (
        "Of the last 10 entries that ended, 10 failed again (100 %, more than 20 %)."
    )


def test_a_clean_redrive_resolves_its_group(queue: World) -> None:
    letters = dead(queue, 3)
    group = DeadLetterEntry.objects.get(pk=letters[0]).group
    redrive = begun(letters)
    group.refresh_from_db()
    assert group.status == GroupStatus.REDRIVING

    to_the_end(queue, redrive)

    group.refresh_from_db()
    assert group.status == GroupStatus.RESOLVED


def test_a_limited_workspace_is_never_overfilled(queue: World) -> None:
    workspace = limited_workspace(2)
    letters = dead(queue, 5, workspace=workspace)
    redrive = begun(letters)
    while driver.turn().more:  # on a slow machine, one turn ends before the second
        pass

    active = WorkflowExecution.objects.filter(workspace=workspace, state="RUNNING").count()
    assert active == 2
    assert to_the_end(queue, redrive).succeeded == 5


def test_a_held_concurrency_key_makes_them_wait_for_each_other(queue: World) -> None:
    keyed = BROKEN | {"settings": {"concurrency": {"key": "one"}}}
    redrive = begun(dead(queue, 4, keyed))
    while driver.turn().more:
        pass

    rows = WorkflowExecution.objects.filter(dead_letters__redrive_items__redrive=redrive)
    assert Counter(rows.values_list("state", flat=True)) == {"RUNNING": 1, "PENDING": 3}
    assert to_the_end(queue, redrive).succeeded == 4


def test_each_redrive_has_its_turn_however_many_there_are(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "MOST", 1)
    redrives = [begun(dead(queue, 2), max_in_flight=1) for _ in range(3)]

    for _ in range(Redrive.objects.filter(busy=True).count()):
        driver.drive()

    rows = Redrive.objects.filter(pk__in=[redrive.pk for redrive in redrives])
    assert list(rows.values_list("sent", "busy")) == [(1, True)] * 3


def test_whom_somebody_locks_comes_with_a_later_turn(queue: World, rivals: Rivals) -> None:
    letters = dead(queue, 3)
    redrive = begun(letters)
    held = DeadLetterEntry.objects.get(pk=letters[0]).execution_id
    with transaction.atomic():
        WorkflowExecution.objects.select_for_update(no_key=True).get(pk=held)
        rivals.begin(driver.drive).result(60)
        redrive.refresh_from_db()
        assert redrive.sent == 2

    assert to_the_end(queue, redrive).succeeded == 3


def test_only_a_lock_is_left_for_a_later_turn_without_a_word(queue: World, rivals: Rivals) -> None:
    redrive = begun(dead(queue, 1))
    (item,) = queued(redrive, after=0, most=1)

    def hurried() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '100ms'")  # less than the wait for a lock
        return sending.send_one(redrive.pk, item)

    with transaction.atomic():
        WorkflowExecution.objects.select_for_update(no_key=True).get(pk=item.execution_id)
        assert rivals.begin(sending.send_one, redrive.pk, item).result(60) is False
        with pytest.raises(OperationalError, match="statement timeout"):
            rivals.begin(hurried).result(60)

    assert to_the_end(queue, redrive).succeeded == 1


def test_runs_of_a_redrive_yield_to_live_work(queue: World) -> None:
    redrive = begun(dead(queue, 1))
    driver.drive()

    item = redrive.items.get()
    assert Run.objects.get(pk=item.run_id).priority == 3  # 5, the workflow's, less 2


@pytest.mark.plugins  # new executions are forks
def test_the_whole_execution_runs_anew_once_however_many_of_it_are_dead(queue: World) -> None:
    both = {
        "tasks": [
            effect("one", failTimes=9, errorType="PERMANENT"),
            effect("two", failTimes=9, errorType="PERMANENT"),
        ]
    }
    origin = start(publish(both))
    queue.drain()
    letters = list(DeadLetterEntry.objects.filter(execution_id=origin).values_list("pk", flat=True))
    assert len(letters) == 2

    redrive = to_the_end(queue, begun(letters, scope="EXECUTION"))

    made_executions = WorkflowExecution.objects.filter(origin_id=origin)
    assert made_executions.count() == 1
    assert redrive.failed_again == 2  # they fail as before
    for entry in DeadLetterEntry.objects.filter(pk__in=letters):
        assert entry.requeued_execution_id == made_executions.get().pk
    assert states([origin])[origin] == "FAILED"


@pytest.mark.plugins  # new executions are forks
def test_from_the_failed_step_on_a_new_execution_keeps_what_was_done(queue: World) -> None:
    chain = {
        "output": "{{ tasks.bad.output }}",
        "tasks": [
            effect("first", value=1),
            effect("bad", "first", failTimes=9, errorType="PERMANENT"),
        ],
    }
    origin = start(publish(chain))
    queue.drain()
    letter = DeadLetterEntry.objects.get(execution_id=origin)

    redrive = to_the_end(
        queue, begun([letter.pk], scope="FROM", overrides={"failTimes": 0, "value": "mended"})
    )

    assert redrive.succeeded == 1
    new = WorkflowExecution.objects.get(origin_id=origin)
    assert (new.output, new.priority) == ("mended", 3)
    assert Run.objects.get(execution=new, step_path="first.main").cached_from is not None


def test_overrides_reach_the_step_and_what_does_not_fit_is_refused_by_name(queue: World) -> None:
    letters = dead(queue, 3, HOPELESS)
    expression = '{"failTimes": 0, "value": inputs.value + 10 if inputs.value else [], "x": 1}'
    redrive = begun(letters, expression=expression.replace(', "x": 1', ""))
    to_the_end(queue, redrive)
    outputs = Run.objects.filter(pk__in=[i.run_id for i in items(redrive).values()])
    assert sorted(outputs.values_list("outputs", flat=True), key=str) == [11, 12, []]

    others = dead(queue, 2, HOPELESS)
    refused = to_the_end(queue, begun(others, overrides={"failTimes": "often"}))
    assert told(refused) == ["SKIPPED", "SKIPPED"]
    reasons = {item.reason for item in items(refused).values()}
    assert len(reasons) == 1
    assert "failTimes: Input should be a valid integer" in reasons.pop()
    assert DeadLetterEntry.objects.filter(pk__in=others, resolution="PENDING").count() == 2


def test_expressions_that_take_long_are_evaluated_an_entry_at_a_time_until_all_are_sent(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "EXPRESSION_SECONDS", 0.0)
    batches: list[int] = []
    patches_of = sending.patches_of

    def noted(redrive: Redrive, queued: Sequence[Queued]) -> dict[UUID, Patched]:
        batches.append(len(found := patches_of(redrive, queued)))
        return found

    monkeypatch.setattr(sending, "patches_of", noted)
    letters = dead(queue, 4, HOPELESS)
    redrive = begun(letters, expression='{"failTimes": 0}')
    to_the_end(queue, redrive)
    assert (redrive.succeeded, batches) == (4, [1, 1, 1, 1])


def test_an_expression_has_the_budget_of_its_preview_when_it_is_sent(queue: World) -> None:
    letters = dead(queue, 1, HOPELESS)
    costly = '{"failTimes": ([[1] * 90000] * 20 == [[1] * 90000] * 20) | int}'
    redrive = to_the_end(queue, begun(letters, expression=costly))
    assert told(redrive) == ["SKIPPED"]


def test_it_is_carried_out_in_the_name_of_who_made_it(queue: World) -> None:
    letters = dead(queue, 1)
    who = Actor.system("the night shift")
    redrive = make(DeadLetterEntry.objects.filter(pk__in=letters), RedriveOptions(), actor=who)
    lifecycle.start(redrive.pk, actor=ACTOR)
    to_the_end(queue, redrive)

    line = Activity.objects.get(object_id=redrive.pk, action="dead_letter.requeued")
    assert (line.actor_name, line.via) == ("the night shift", "redrive")


@pytest.mark.plugins  # new executions are forks
def test_what_a_limit_holds_back_says_so_until_it_is_sent(queue: World) -> None:
    tier = Tier.objects.filter(workspaces=default_workspace())
    tier.update(max_per_hour=1)
    letters = dead(queue, 1)
    redrive = begun(letters, scope="EXECUTION")

    driver.drive()

    (item,) = items(redrive).values()
    assert item.state == "QUEUED"
    assert item.reason.startswith("Held back: ")
    assert held_by(redrive) == item.reason

    tier.update(max_per_hour=None)
    driver.drive()
    (item,) = items(redrive).values()
    assert (item.state, item.reason) == ("RUNNING", "")
