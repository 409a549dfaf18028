"""Sleeping executions move to another version on real workers while one worker is killed."""

from collections import Counter
from uuid import UUID

from executions.models import Activity, Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.models import Run
from tests.support import copies
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start, task, wait_for_end
from valkyr_plugins.version_migration import lifecycle
from valkyr_plugins.version_migration.models import ExecutionMigration, MigrationState
from valkyr_plugins.version_migration.plan import MigrationPlan

SLEEPERS = 200
REST = task("rest", "flow.delay", "one", **{"with": {"seconds": 86_400}})
OLD = [effect("one", value="1"), REST, effect("last", "rest", value="2")]
NEW = [
    effect("one", value="1"), REST, effect("check", "rest", value="3"),
    effect("last", "check", value="4"),
]  # fmt: skip
FIRE = """
UPDATE runners_run SET due_at = clock_timestamp() + random() * %s * interval '1 second'
 WHERE execution_id = ANY(%s) AND state = 'WAITING'
"""


def asleep(workflow: Workflow) -> list[UUID]:
    first = start(workflow)
    waits = Run.objects.filter(execution=first, step_path="rest.main", state="WAITING")
    wait_until(waits.exists, 30, "the wait of the first execution")
    return [first, *copies.copy_rows(first, SLEEPERS - 1)]


def fire(executions: list[UUID], seconds: float) -> None:
    with copies.session(autocommit=True) as own:
        own.execute(FIRE, [seconds, executions])


def moved(made: ExecutionMigration) -> int:
    made.refresh_from_db()
    return made.moved


def progress(made: ExecutionMigration) -> str:
    """Return the text that a failed test shows: the counters, and why executions are still
    queued.
    """
    reasons = Counter(made.items.values_list("state", "reason"))
    return f"{made.state}: {made.moved} moved, {made.skipped} skipped; {reasons.most_common(5)}"


def is_done(made: ExecutionMigration) -> bool:
    made.refresh_from_db()
    return made.state == MigrationState.DONE


def test_sleepers_move_while_their_driver_is_killed_and_no_wait_is_lost(fleet: Fleet) -> None:
    workflow = publish({"tasks": OLD})
    sleepers = asleep(workflow)
    changed = workflow.definition | {"tasks": NEW}
    versioning.update_workflow(
        workflow.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    workflow.refresh_from_db()
    made = lifecycle.make(workflow, MigrationPlan(source=1, rate=40), actor=ACTOR)
    fire(sleepers[::4], 4)

    lifecycle.start(made.pk, actor=ACTOR)
    wait_until(lambda: moved(made) > 20, 60, "the first moves", lambda: progress(made))
    fleet["control"].kill()
    fleet.ensure()
    wait_until(lambda: is_done(made), 90, "the end of the migration", lambda: progress(made))
    fire(sleepers, 1)
    ends = wait_for_end(sleepers, 90)

    assert set(ends.values()) == {"SUCCESS"}
    assert (made.refused, made.moved + made.skipped) == (0, SLEEPERS)
    assert made.moved > SLEEPERS // 2
    rows = WorkflowExecution.objects.filter(pk__in=sleepers)
    assert rows.filter(version_id=made.target_id).count() == made.moved
    runs = Run.objects.filter(execution__in=sleepers)
    assert runs.filter(step_path="rest.main").count() == SLEEPERS
    assert runs.filter(step_path="check.main", state="SUCCESS").count() == made.moved
    noted = Activity.objects.filter(action="execution.migrate")
    assert noted.filter(object_id__in=[str(pk) for pk in sleepers]).count() == made.moved
