"""Tests of figures of executions: counted by the hour, read back, limited to what a user sees."""

from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.auth import get_user_model
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dlq.retention.batches import PruningPace
from dlq.retention.executions import PruningPosition, prune
from dlq.retention.periods import RetentionPeriods, older_than
from executions.access import reach_of
from executions.access.scoping import Scope
from executions.database.advisory_locks import AdvisoryLock
from executions.database.clock import database_now
from executions.definition.graph.trial import TrialRequest
from executions.models import (
    Membership,
    Workflow,
    WorkflowExecution,
    Workspace,
)
from executions.publishing.versioning import publish_trial
from tests.support import admin_rows as rows
from tests.support.aging import aged
from tests.support.figure_rows import ended, run
from tests.support.sharing import assign_perm
from tests.support.workflows import ACTOR
from valkyr_plugins.figures import rollup
from valkyr_plugins.figures.breakdowns import versions
from valkyr_plugins.figures.models import CountedHour, ExecutionHour
from valkyr_plugins.figures.ranges import HOUR, RANGES, floor
from valkyr_plugins.figures.reading import Stretch, count, read
from valkyr_project.messaging.beat import direct_conninfo

pytestmark = pytest.mark.django_db
ALL = Scope(everything=True)


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def now() -> datetime:
    """Return twenty minutes past a full hour, so that the result does not depend on the clock."""
    return floor(database_now(), HOUR) + timedelta(minutes=20)


def other_workflow(slug: str = "other") -> Workflow:
    return rows.workflow(slug, owner=rows.workspace(slug))


def test_hours_are_counted_while_another_session_migrates(
    workflow: Workflow, now: datetime
) -> None:
    hour = floor(now, HOUR) - HOUR
    with psycopg.connect(direct_conninfo(), autocommit=True) as session:
        session.execute("SELECT pg_advisory_lock(%s)", [AdvisoryLock.MIGRATION])

        assert rollup.count_hour(hour)


def test_an_hour_is_counted_by_state_and_time(workflow: Workflow, now: datetime) -> None:
    hour = floor(now, HOUR) - HOUR
    for minute, state in enumerate(["SUCCESS", "SUCCESS", "FAILED", "TIMEOUT", "CANCELLED"]):
        ended(workflow, state, hour + timedelta(minutes=5 + minute), took=2.0, waited=0.5)

    rollup.count_hour(hour)

    one = ExecutionHour.objects.get(hour=hour, workflow=workflow)
    assert (one.created, one.succeeded, one.failed, one.timed_out, one.cancelled) == (5, 2, 1, 1, 1)
    assert one.dead_letters == 1
    assert sum(one.durations.values()) == sum(one.dispatches.values()) == 5
    figures = read(ALL, RANGES["24h"], now)
    assert figures.total.durations.percentile(0.5) == pytest.approx(2_000, rel=0.13)
    assert figures.total.dispatches.percentile(0.5) == pytest.approx(500, rel=0.13)


def test_counting_again_changes_nothing_and_takes_in_what_came_late(
    workflow: Workflow, now: datetime
) -> None:
    hour = floor(now, HOUR) - HOUR
    ended(workflow, "SUCCESS", hour)
    rollup.count_hour(hour)
    rollup.count_hour(hour)
    assert ExecutionHour.objects.get(hour=hour, workflow=None, workspace=None).succeeded == 1

    ended(workflow, "SUCCESS", hour + HOUR - timedelta(microseconds=1))
    rollup.count_hour(hour)

    assert ExecutionHour.objects.get(hour=hour, workflow=None, workspace=None).succeeded == 2
    assert ExecutionHour.objects.count() == 3  # the workflow, its workspace, all


def test_the_duty_catches_up_after_an_outage_in_turns(
    workflow: Workflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rollup, "TURN_SECONDS", 0.0)

    first, second = rollup.roll(), rollup.roll()

    assert first["counted"] == second["counted"] == 1
    newer, older = CountedHour.objects.order_by("-hour").values_list("hour", flat=True)
    assert newer - older == HOUR


def test_the_duty_forgets_what_no_range_reaches(workflow: Workflow) -> None:
    old = floor(database_now(), HOUR) - timedelta(days=40)
    rollup.count_hour(old)
    ended(workflow, "SUCCESS", old)
    rollup.count_hour(old)

    assert rollup._forget() == 3
    assert not CountedHour.objects.exists()


def test_figures_are_the_same_before_and_after_the_hour_is_counted(
    workflow: Workflow, now: datetime
) -> None:
    hour = floor(now, HOUR) - HOUR
    for minute in range(0, 60, 7):
        ended(workflow, "FAILED" if minute % 2 else "SUCCESS", hour + timedelta(minutes=minute))
    before = read(ALL, RANGES["24h"], now)

    rollup.count_hour(hour)
    after = read(ALL, RANGES["24h"], now)

    assert after.slots == before.slots
    assert after.total.ended == 9
    assert (before.uncounted, after.uncounted) == (21, 21)


@pytest.mark.parametrize("name", RANGES)
def test_every_range_has_its_slots_and_the_period_before(
    workflow: Workflow, now: datetime, name: str
) -> None:
    window = RANGES[name].window(now)
    ended(workflow, "SUCCESS", window.start)
    ended(workflow, "FAILED", window.start - timedelta(microseconds=1))
    ended(workflow, "FAILED", window.before)
    ended(workflow, "SUCCESS", window.before - timedelta(microseconds=1))
    for at in (window.start, window.start - HOUR, window.before):
        rollup.count_hour(floor(at, HOUR))

    figures = read(ALL, RANGES[name], now)

    assert [tally.succeeded for tally in figures.slots] == [1] + [0] * (len(figures.slots) - 1)
    assert (figures.total.failed, figures.before.failed, figures.before.succeeded) == (0, 2, 0)


def test_an_attempt_that_failed_counts_in_the_hour_in_which_it_did(
    workflow: Workflow, now: datetime
) -> None:
    hour = floor(now, HOUR) - HOUR
    made = ended(workflow, "SUCCESS", hour + HOUR + timedelta(minutes=5), took=3_600)
    run(made, hour + timedelta(minutes=50), "FAILED", attempt=1, step_path="slow.main")

    found = read(ALL, RANGES["24h"], now)

    assert [tally.failed_attempts for tally in found.slots[-2:]] == [1, 0]


def test_test_runs_are_not_counted(workflow: Workflow, now: datetime) -> None:
    at = now - timedelta(minutes=10)
    trial = publish_trial(workflow.pk, None, TrialRequest(), actor=ACTOR)
    of_trial = ended(workflow, "FAILED", at)
    WorkflowExecution.objects.filter(pk=of_trial.pk).update(version=trial)
    real = ended(workflow, "SUCCESS", at)

    [tally] = count(Stretch(now - HOUR, 2 * HOUR, 1, 100), ALL).values()
    shown = versions(workflow.pk, now - 2 * HOUR)

    assert (tally.succeeded, tally.failed) == (1, 0)
    assert [one.version_id for one in shown] == [real.version_id]


def test_what_waits_for_its_retry_does_not_wait_for_a_worker(
    workflow: Workflow, now: datetime
) -> None:
    hour = floor(now, HOUR)
    made = ended(workflow, "SUCCESS", hour + timedelta(minutes=9), took=300, waited=0.02)
    began = made.started_at
    assert began is not None
    run(
        made, hour, step_path="again.main", attempt=2, queued_at=began,
        started_at=began + timedelta(seconds=60),
        retry_after=began + timedelta(seconds=59.98),
    )  # fmt: skip

    dispatches = read(ALL, RANGES["24h"], now).total.dispatches

    assert dispatches.total == 2
    assert dispatches.percentile(1.0) == pytest.approx(20, rel=0.13)


def test_a_slot_with_more_than_the_bound_says_so(
    workflow: Workflow, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("valkyr_plugins.figures.reading.MOST", 3)
    for _ in range(5):
        ended(workflow, "SUCCESS", now - timedelta(minutes=1))

    found = read(ALL, RANGES["1h"], now)

    assert (found.capped, found.total.succeeded) == (True, 3)


def people(workflow: Workflow, other: Workflow) -> dict[str, tuple[Any, int]]:
    """Create users; return the number of executions that each sees of one here and two there."""
    users = get_user_model().objects
    boss, member, granted, nobody = (
        users.create_superuser("boss"), users.create_user("member"),
        users.create_user("granted"), users.create_user("nobody"),
    )  # fmt: skip
    Membership.objects.create(user=member, workspace=workflow.workspace, role="WORKFLOW")
    Membership.objects.create(user=granted, workspace=other.workspace, role="USER")
    assign_perm("read_workflow", granted, other)
    assign_perm("read_workflow", nobody, other)  # without being a member: nothing
    return {
        "boss": (boss, 3),
        "member": (member, 1),
        "granted": (granted, 2),
        "nobody": (nobody, 0),
    }


@pytest.mark.parametrize("who", ["boss", "member", "granted", "nobody"])
@pytest.mark.parametrize("name", ["1h", "24h"])
def test_everybody_gets_figures_of_what_they_may_see(
    workflow: Workflow, now: datetime, who: str, name: str
) -> None:
    other = other_workflow()
    hour = floor(now, HOUR) - HOUR
    for of in (workflow, other, other):
        ended(of, "SUCCESS", now - timedelta(minutes=2))
        ended(of, "SUCCESS", hour)
    rollup.count_hour(hour)
    user, seen = people(workflow, other)[who]

    found = read(Scope.of(user, reach_of(user)), RANGES[name], now)

    assert found.total.succeeded + found.before.succeeded == 2 * seen


def test_a_scope_narrows_to_a_workspace_and_a_workflow(workflow: Workflow, now: datetime) -> None:
    other = other_workflow()
    ended(workflow, "SUCCESS", now - timedelta(minutes=1))
    ended(other, "FAILED", now - timedelta(minutes=1))

    place = read(ALL.of_workspace(other.workspace_id), RANGES["1h"], now).total
    one = read(ALL.of_workflow(workflow.pk), RANGES["1h"], now).total

    assert (place.succeeded, place.failed) == (0, 1)
    assert (one.succeeded, one.failed) == (1, 0)


def test_counting_and_reading_cost_the_same_however_many_there_are(
    workflow: Workflow, now: datetime
) -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as seen:
            rollup.count_hour(floor(now, HOUR) - HOUR)
            read(ALL, RANGES["24h"], now)
        return len(seen)

    ended(workflow, "SUCCESS", now - HOUR)
    cost()  # the first time there is nothing to replace
    few = cost()
    for number in range(5):
        ended(other_workflow(f"o{number}"), "SUCCESS", now - HOUR)

    assert cost() == few


@pytest.fixture
def many(workflow: Workflow) -> None:
    """Create enough rows to make a plan by index the cheaper one."""
    now = database_now()
    WorkflowExecution.objects.bulk_create(
        WorkflowExecution(
            workspace_id=workflow.workspace_id, workflow=workflow,
            version=workflow.latest_version, state="SUCCESS",
            created_at=now - timedelta(minutes=number),
            started_at=now - timedelta(minutes=number),
            finished_at=now - timedelta(minutes=number),
        )
        for number in range(5_000)
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE executions_workflowexecution")


@pytest.mark.parametrize("whose", ["all", "a workspace's", "a workflow's"])
def test_what_ended_is_found_by_its_index(
    many: None, workflow: Workflow, now: datetime, whose: str
) -> None:
    scopes = {
        "all": ALL,
        "a workspace's": Scope(workspaces=(workflow.workspace_id,)),
        "a workflow's": Scope(workflows=(workflow.pk,)),
    }
    with CaptureQueriesContext(connection) as seen:
        count(Stretch(now - HOUR, HOUR / 12, 12, 100), scopes[whose])
    plans = []
    with connection.cursor() as cursor:
        for query in seen.captured_queries[:2]:
            cursor.execute("EXPLAIN " + query["sql"].replace("%", "%%"), [])
            plans.append("\n".join(row[0] for row in cursor.fetchall()))

    assert "execution_ended" in plans[0]
    assert "execution_list" in plans[1]
    assert "workflow_list" not in "".join(plans)


def test_a_workspace_takes_its_hours_along(now: datetime) -> None:
    other = other_workflow("gone")
    ExecutionHour.objects.create(hour=now, workspace=other.workspace, workflow=other)
    Workflow.objects.filter(pk=other.pk).update(latest_version=None)
    other.versions.all().delete()
    other.delete()
    Workspace.objects.filter(slug="gone").delete()

    assert not ExecutionHour.objects.exists()


def test_retention_keeps_what_is_not_counted_yet(workflow: Workflow) -> None:
    aged(workflow, 3)
    wanted = older_than(1, database_now())
    assert deleted(wanted) == 0

    now = database_now()
    hour = floor(now, HOUR) - timedelta(days=30)
    CountedHour.objects.bulk_create(
        CountedHour(hour=hour + number * HOUR, counted_at=now + 3 * HOUR)
        for number in range(31 * 24)
    )

    assert deleted(wanted) == 1


def deleted(wanted: RetentionPeriods) -> int:
    tally, _ = prune(wanted, PruningPace(rest=0.0), PruningPosition())
    return tally.rows
