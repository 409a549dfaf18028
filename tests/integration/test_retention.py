"""The executions that retention deletes, and the rows of others that it never deletes."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dlq import statements
from dlq.models import DeadLetterEntry, Resolution, RetentionMark
from dlq.resolve import transitions
from dlq.retention import executions, pruning
from dlq.retention.batches import PruningPace
from dlq.retention.executions import Family, PruningPosition
from dlq.retention.periods import RetentionPeriods, as_set, older_than
from dlq.retention.pruning import turn
from dlq.retention.terms import parameters
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.models import (
    Activity,
    CronTick,
    Event,
    Tier,
    Trigger,
    Workflow,
    WorkflowExecution,
)
from runners.models import Run
from tests.support import admin_rows
from tests.support.aging import aged, left, runs_of
from tests.support.failures import fail
from valkyr_plugins.timetravel.models import Checkpoint

pytestmark = pytest.mark.django_db
GENTLE = {"rest": 0.0}


@pytest.fixture
def orders() -> Workflow:
    return admin_rows.workflow()


def prune(wanted: RetentionPeriods | None = None, **pace: Any) -> Any:
    return executions.prune(
        wanted or as_set(database_now()), PruningPace(**(GENTLE | pace)), PruningPosition()
    )[0]


def test_each_ending_has_its_time(orders: Workflow) -> None:
    ages = {"SUCCESS": 31, "CANCELLED": 31, "FAILED": 91, "TIMEOUT": 91}
    gone = [aged(orders, days, state) for state, days in ages.items()]
    kept = [aged(orders, days - 2, state) for state, days in ages.items()]

    tally = prune()

    assert left() == {one.pk for one in kept}
    assert (tally.rows, tally.parts["runs"], tally.more) == (4, 8, False)
    assert not Run.objects.filter(execution_id__in=[one.pk for one in gone]).exists()
    assert Checkpoint.objects.count() == Counter(kept).total()


def test_a_child_stays_as_long_as_its_parent_or_its_root(orders: Workflow) -> None:
    root = aged(orders, 10)
    child = aged(orders, 400, parent=root, depth=1)
    grandchild = aged(orders, 400, parent=child, depth=2)
    alive = aged(orders, -1)
    of_alive = aged(orders, 400, parent=alive, depth=1)

    assert prune().rows == 0
    assert left() == {one.pk for one in (root, child, grandchild, alive, of_alive)}

    WorkflowExecution.objects.filter(pk=root.pk).update(
        finished_at=timezone.now() - timedelta(days=40)
    )
    assert prune().rows == 3
    assert left() == {alive.pk, of_alive.pk}


def test_a_parent_stays_as_long_as_a_child_or_error_workflow_of_it(orders: Workflow) -> None:
    parent, failed = aged(orders, 400), aged(orders, 400, "FAILED")
    child = aged(orders, -1, parent=parent, depth=1)
    mourner = aged(orders, 5, failure_of=failed)

    tally = prune()

    assert left() == {one.pk for one in (parent, child, failed, mourner)}
    assert tally.kept == {
        "an execution that they started is still running": 1,
        "an execution that they started must be kept longer": 1,
    }


def test_an_execution_stays_as_long_as_a_dead_letter_of_it(orders: Workflow) -> None:
    letters = [fail(orders) for _ in range(4)]
    still_open, pinned, fresh, over = letters
    long_ago = timezone.now() - timedelta(days=400)
    WorkflowExecution.objects.update(state="FAILED", finished_at=long_ago)
    for letter in (pinned, fresh, over):
        transitions.resolve(letter, Resolution.DISCARDED, actor=Actor(None, "ann", "test"))
    DeadLetterEntry.objects.filter(pk=pinned.pk).update(pinned=True)
    DeadLetterEntry.objects.filter(pk__in=[pinned.pk, over.pk]).update(expires_at=long_ago)

    counts = turn().counts

    assert (counts["dead letters"], counts["executions"]) == (1, 1)
    assert left() == {still_open.execution_id, pinned.execution_id, fresh.execution_id}


def test_a_fork_under_way_keeps_its_origin_and_one_that_ended_forgets_it(orders: Workflow) -> None:
    first, second = aged(orders, 400), aged(orders, 400)
    live = aged(orders, -1, origin=first, origin_point="charge.main")
    over = aged(orders, 3, origin=second, origin_point="charge.main")

    assert prune().kept == {"forks of them are still running": 1}

    assert left() == {first.pk, live.pk, over.pk}
    over.refresh_from_db()
    assert (over.origin_id, over.origin_point, runs_of(over)) == (None, "charge.main", 2)


def test_what_a_plugin_still_needs_stays(orders: Workflow, monkeypatch: pytest.MonkeyPatch) -> None:
    needed = aged(orders, 3)
    aged(orders, 6)
    wanted = older_than(1, database_now())
    monkeypatch.setattr(executions, "HORIZONS", [lambda now: now - timedelta(days=4)])

    assert prune(wanted).rows == 1
    assert left() == {needed.pk}

    monkeypatch.setattr(executions, "HORIZONS", [])

    assert prune(wanted).rows == 1


def test_a_workspace_a_workflow_and_a_tier_may_have_times_of_their_own(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = admin_rows.workspace("free")
    free.tier = Tier.objects.get_or_create(name="free")[0]
    free.save()
    finance = admin_rows.workflow(owner=admin_rows.workspace("finance"))
    quick = admin_rows.workflow("quick", owner=finance.workspace)
    small = admin_rows.workflow(owner=free)
    kept = [aged(finance, 400), aged(orders, 29)]
    for flow, days in ((orders, 31), (quick, 31), (small, 30)):
        aged(flow, days)
    monkeypatch.setenv("VALKYR_KEEP_SUCCEEDED_DAYS", "30")
    monkeypatch.setenv(
        "VALKYR_KEEP_OVERRIDES",
        '{"finance": {"succeeded": 0}, "finance/quick": {"succeeded": 30},'
        ' "tier:free": {"succeeded": 29.5}}',
    )

    assert prune().rows == 3
    assert left() == {one.pk for one in kept}


@pytest.mark.parametrize(
    "said", ["[]", "{", '{"default": {"won": 3}}', '{"nobody": {}}', '{"default": {"failed": -1}}',
             '{"default/none": {"failed": 1}}'],
)  # fmt: skip
def test_settings_that_make_no_sense_delete_nothing(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    old = aged(orders, 400)
    monkeypatch.setenv("VALKYR_KEEP_OVERRIDES", said)

    with pytest.raises(ImproperlyConfigured, match="VALKYR_KEEP_OVERRIDES"):
        turn()

    assert left() == {old.pk}


def test_a_family_larger_than_a_batch_goes_in_several_the_root_last(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = aged(orders, 400)
    for _ in range(4):
        child = aged(orders, 400, parent=root, depth=1)
        aged(orders, 400, parent=child, depth=2)
    seen: list[int] = []
    pace = PruningPace(rest=0.0, batch=3, stopped=lambda: bool(seen.append(len(left()))))
    monkeypatch.setattr(executions, "RUNS_AT_ONCE", 4)

    tally, place = executions.prune(as_set(database_now()), pace, PruningPosition())

    assert (tally.rows, tally.parts["runs"], place) == (9, 18, None)
    assert not left()
    assert not Run.objects.exists()
    assert len(set(seen)) > 2


def test_what_is_stopped_in_the_middle_goes_on_from_there(orders: Workflow) -> None:
    for _ in range(6):
        aged(orders, 400)
    asked: list[int] = []
    pace = PruningPace(rest=0.0, batch=2, stopped=lambda: bool(asked.append(1)) or len(asked) > 2)

    tallies = pruning.carry_on(as_set(database_now()), pace)

    assert any(tally.more for tally in tallies)
    assert turn().more is False
    assert not left()
    assert not RetentionMark.objects.filter(pk="executions").exists()


def test_what_goes_is_written_into_the_trail(orders: Workflow) -> None:
    aged(orders, 400)

    turn()

    row = Activity.objects.get(action="retention.prune")
    assert (row.actor_name, row.details) == ("retention", {"deleted": {"executions": 1}})
    turn()
    assert Activity.objects.filter(action="retention.prune").count() == 1


def test_logs_may_go_before_their_execution(
    orders: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, fresh = aged(orders, 10), aged(orders, 2)
    monkeypatch.setenv("VALKYR_KEEP_LOGS_DAYS", "7")

    assert turn().counts["logs"] == 2

    cleared = Run.objects.filter(logs__isnull=True).values_list("execution_id", flat=True)
    assert set(cleared) == {old.pk}
    assert Run.objects.filter(execution=fresh).exclude(logs__isnull=True).count() == 2
    assert RetentionMark.objects.get(pk="logs").row == old.pk
    assert turn().counts["logs"] == 0


def test_ticks_go_with_their_execution_and_those_without_by_their_age(orders: Workflow) -> None:
    trigger = Trigger.objects.create(workflow=orders, type="CRON", settings={"cron": "* * * * *"})
    old = aged(orders, 400, trigger=trigger)
    now = timezone.now()
    CronTick.objects.create(trigger=trigger, fire_at=now - timedelta(days=400), execution=old)
    for days, name in ((40, "SKIPPED"), (5, "MISSED")):
        CronTick.objects.create(
            trigger=trigger,
            fire_at=now - timedelta(days=days),
            status=name,
            id=id_of(days),
            reason="why",
        )

    assert turn().counts["ticks"] == 1

    assert CronTick.objects.get().status == "MISSED"


def id_of(days: float) -> Any:
    from executions.database.clock import first_id_at

    return first_id_at(timezone.now() - timedelta(days=days))


def test_events_are_pruned_by_what_a_person_says(orders: Workflow) -> None:
    Event.objects.create(
        id=id_of(3), workspace_id=orders.workspace_id, event_id="e", name="n",
        delivered_at=timezone.now(),
    )  # fmt: skip
    wanted = older_than(2, database_now())

    (tally,) = pruning.prune(("events",), wanted, PruningPace(rest=0.0))

    assert (tally.rows, Event.objects.count()) == (1, 0)


def test_finding_nothing_is_a_handful_of_statements(orders: Workflow) -> None:
    for _ in range(3):
        aged(orders, 5)
    turn()
    with CaptureQueriesContext(connection) as captured:
        turn()
    assert len(captured) < 50


def test_families_are_packed_by_executions_and_runs() -> None:
    def family(size: int, runs: int) -> Family:
        return Family(id_of(1), size, runs, "", ())

    made = executions.packs(
        [family(3, 1), family(2, 1), family(9, 1), family(1, 5_001), family(1, 1)], 5
    )

    assert [[one.size for one in pack] for pack in made] == [[3, 2], [9], [1], [1]]


@pytest.mark.parametrize(
    "name",
    [
        "prune_expired_roots",
        "prune_families",
        "prune_lock",
        "prune_lock_families",
        "prune_deletable",
    ],
)
def test_every_question_is_answered_by_an_index(orders: Workflow, name: str) -> None:
    wanted, place = as_set(database_now()), PruningPosition()
    told = parameters(wanted.terms, wanted.scope, wanted.now) | {
        "at": place.at, "id": place.id, "before": wanted.now, "chunk": 9, "most": 9,
        "roots": [id_of(9)], "ids": [id_of(9)], "expired": None, "resolved": None, "held": [],
        "of": [], "kin": [], "kept": [],
    }  # fmt: skip
    told |= dict.fromkeys(("after", "first", "low"), id_of(10))
    told |= dict.fromkeys(("end", "high"), id_of(8))

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("EXPLAIN " + statements.statement(name), told)
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "Seq Scan" not in plan
