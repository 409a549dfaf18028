"""10,000 sleeping executions move to another version while workers and beat are killed."""

import time
from uuid import UUID

from django.db.models import Count, Q

from executions.models import Activity, Workflow, WorkflowExecution
from executions.publishing import versioning
from runners.models import Run
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support import copies
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, effect, publish, start, task
from valkyr_plugins.version_migration import lifecycle
from valkyr_plugins.version_migration.models import ExecutionMigration, MigrationState
from valkyr_plugins.version_migration.plan import MigrationPlan

SLEEPERS = 10_000
BOUND = 300.0  # seconds until each was moved
REST = task("rest", "flow.delay", "one", **{"with": {"seconds": 86_400}})
# The copied executions have passed it: it has no effect that the auditor would look for.
ONE = task("one")
OLD = [ONE, REST, effect("last", "rest", value="2")]
NEW = [
    ONE, REST, effect("check", "rest", value="3"),
    effect("last", "check", value="4"),
]  # fmt: skip
# A third of the timers fire while the executions move, spread over so many seconds.
FIRING = """
UPDATE runners_run SET due_at = clock_timestamp() + random() * %s * interval '1 second'
 WHERE execution_id = ANY(%s) AND state = 'WAITING'
"""


def _run(world: World) -> None:
    number, spread = (300, 15) if world.quick else (SLEEPERS, 90)
    workflow = publish({"tasks": OLD})
    world.watch.include([workflow.pk])
    sleepers = _asleep(workflow, number)
    world.own(sleepers)
    changed = workflow.definition | {"tasks": NEW}
    versioning.update_workflow(
        workflow.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)
    workflow.refresh_from_db()
    plan = MigrationPlan(source=1, rate=30 if world.quick else None)
    made = lifecycle.make(workflow, plan, actor=ACTOR)
    assert made.total == number
    _fire(sleepers[: number // 3], spread)
    lifecycle.start(made.pk, actor=ACTOR)
    seconds = _killed_until_done(world, made)
    world.recovered(f"{number:,} executions moved", seconds)
    world.fleet.ensure(90)
    _fire(sleepers, spread)  # at once, they would wait for each other in the queue
    world.wait_all_ended(600)
    _all_once(world, made, sleepers)


def _asleep(workflow: Workflow, number: int) -> list[UUID]:
    """Create `number` executions that wait for their timer."""
    first = start(workflow)
    waits = Run.objects.filter(execution=first, step_path="rest.main", state="WAITING")
    wait_until(waits.exists, 30, "the wait of the first execution")
    made = copies.copy_rows(first, number - 1)
    copies.analyze()
    return [first, *made]


def _fire(executions: list[UUID], seconds: float) -> None:
    """Let the timers of these executions fire within `seconds`."""
    with copies.session(autocommit=True) as own:
        own.execute(FIRING, [seconds, executions])


def _killed_until_done(world: World, made: ExecutionMigration) -> float:
    """Kill one process after another until the migration is done; return the seconds."""
    begun = time.monotonic()
    while (seconds := time.monotonic() - begun) < 2 * BOUND:
        made.refresh_from_db()
        if made.state != MigrationState.RUNNING:
            break
        name = world.random.choice(sorted(world.fleet.members))
        member = world.fleet[name]
        if member.alive():
            world.injected(f"kill -9 of {name}", member.pid, *member.children)
            member.kill()
        world.pause(2 if world.quick else 5)
        world.restart()
    assert made.state == MigrationState.DONE, f"{made.state} after {seconds:.0f} s"
    assert sum(world.outcome.injected.values()) > 1, "no process was killed meanwhile"
    return seconds


def _all_once(world: World, made: ExecutionMigration, sleepers: list[UUID]) -> None:
    """Check that each execution succeeded, that its wait ended once, and that moved executions took
    the new steps.
    """
    made.refresh_from_db()
    world.figure("moved", made.moved)
    world.figure("ended before their move", made.skipped)
    rows = WorkflowExecution.objects.filter(pk__in=sleepers)
    assert made.refused == 0
    assert made.moved + made.skipped == len(sleepers)
    assert rows.filter(state="SUCCESS").count() == len(sleepers)
    assert rows.filter(version_id=made.target_id).count() == made.moved
    once = Q(step_path="rest.main", state="SUCCESS")
    runs = Run.objects.filter(execution__in=rows)
    waited = runs.values("execution").annotate(
        rests=Count("pk", filter=once), all=Count("pk", filter=Q(step_path="rest.main")),
        checks=Count("pk", filter=Q(step_path="check.main", state="SUCCESS")),
        ends=Count("pk", filter=Q(step_path="last.main", state="SUCCESS")),
    )  # fmt: skip
    wrong = [row for row in waited if (row["rests"], row["all"], row["ends"]) != (1, 1, 1)]
    assert not wrong, f"a wait was lost or doubled: {wrong[:5]}"
    assert sum(row["checks"] for row in waited) == made.moved
    noted = Activity.objects.filter(
        action="execution.migrate", object_id__in=[str(pk) for pk in sleepers]
    )
    assert noted.count() == made.moved


MIGRATION = Fault(
    "migration",
    f"{SLEEPERS:,} sleeping executions move to another version while workers and beat are killed",
    "all are moved within 5 minutes; no wait is lost or doubled, and no step runs twice",
    BOUND,
    _run,
    load=Load(rate=1),
)
