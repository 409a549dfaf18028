"""Redriving: ten thousand dead letters at full pace, and a thousand at a set pace.

The dead letters are artificial: executions that were started and never ran are changed into failed
ones, so that the new runs succeed at once. A control worker, a step worker and beat serve them.
Targets: 300 entries per second at full pace, and a set pace kept within 5 %.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.benchmarks import shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import beat, control_worker, engine_worker
from tests.benchmarks.sides import BATCH, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

FULL, PACED = 10_000, 1_000
RATE = 50.0
PATIENCE = 900.0
GOAL_FULL, GOAL_PERCENT = 300.0, 5.0

KILL_RUNS = """
UPDATE runners_run r
   SET state = 'DLQ', finished_at = clock_timestamp(), due_at = NULL, error = 'planted',
       error_type = 'TRANSIENT', inputs = '{}'
  FROM executions_workflowexecution e
 WHERE e.id = r.execution_id AND e.workflow_id = %(workflow)s AND r.state = 'PENDING'
"""
KILL_EXECUTIONS = """
UPDATE executions_workflowexecution
   SET state = 'FAILED', finished_at = clock_timestamp()
 WHERE workflow_id = %(workflow)s AND state = 'RUNNING'
"""
PLANT = """
INSERT INTO dlq_deadletterentry (
    id, workspace_id, workflow_id, execution_id, group_id, run_id, redrives, version_number,
    task_id, step_path, module, failure_type, failure_reason, error_type, exception, target, worker,
    fingerprint, attempts, original_inputs, inputs_indexed, resolution, pinned, notes)
SELECT gen_random_uuid(), e.workspace_id, e.workflow_id, e.id, %(group)s, r.id, 0, 1,
       r.task_id, r.step_path, r.module, 'MAX_RETRIES', 'planted', 'TRANSIENT', '', '', '',
       'planted', 1, r.inputs, true, 'PENDING', false, ''
  FROM runners_run r JOIN executions_workflowexecution e ON e.id = r.execution_id
 WHERE e.workflow_id = %(workflow)s AND r.state = 'DLQ'
"""


@dataclass(frozen=True, slots=True)
class Redriven:
    """The number of entries, and the seconds from the start to the last sent and the last ended."""

    entries: int
    sending: float
    ending: float
    rate: float | None

    @property
    def sent_a_second(self) -> float:
        """The entries sent per second, by the database's clock, from the first to the last."""
        return self.entries / self.sending

    @property
    def percent_off(self) -> float:
        """The distance from the set pace, in per cent."""
        assert self.rate is not None
        return 100 * (self.sent_a_second / self.rate - 1)


def measure(stage: Stage, options: Options) -> list[Redriven]:
    """Redrive at full pace, then at a set pace."""
    letters = [
        _planted("at full pace", max(200, round(FULL * options.scale))),
        _planted("at a set pace", max(200, round(PACED * options.scale))),
    ]
    say("dead letters are planted; starting the workers")
    stage.add(engine_worker(stage.folder, concurrency=options.concurrency, queues="default"))
    stage.add(control_worker(stage.folder))
    stage.add(beat(stage.folder))
    return [_redriven(stage, letters[0], None), _redriven(stage, letters[1], RATE)]


def report(found: list[Redriven]) -> None:
    """Print the results and their targets."""
    for one in found:
        line = (
            f"{one.entries:,} entries, all sent after {one.sending:.1f} s, all ended after "
            f"{one.ending:.1f} s: {one.sent_a_second:.0f} a second"
        )
        if one.rate is None:
            print(f"{line} (goal {GOAL_FULL:.0f})")
        else:
            print(f"{line}, {one.percent_off:+.1f} % of {one.rate:g} (goal {GOAL_PERCENT:.0f} %)")


def _planted(name: str, number: int) -> Any:
    """Create failed executions, each with a dead letter; return their workflow."""
    from celery import current_app
    from django.db import connection, transaction

    from dlq.models import FailureGroup
    from executions.access.actor import Actor
    from executions.models import Workspace
    from executions.publishing import versioning
    from executions.triggers.start import start_batch

    document = shapes.single("flow.noop", {}) | {"name": name}
    actor = Actor.system("benchmark")
    workspace = Workspace.objects.get(slug="default")
    workflow = versioning.create_workflow(workspace, name=name, definition=document, actor=actor)
    versioning.publish(workflow.pk, actor=actor)
    workflow.refresh_from_db()
    for first in range(0, number, BATCH):
        start_batch(workflow, [{}] * min(BATCH, number - first), actor=actor)
    group = FailureGroup.objects.create(
        workspace_id=workflow.workspace_id, workflow=workflow, rule=1, place="only.main",
        module="flow.noop", message="planted",
    )  # fmt: skip
    given = {"workflow": workflow.pk, "group": group.pk}
    with transaction.atomic(), connection.cursor() as cursor:
        for text in (KILL_RUNS, KILL_EXECUTIONS, PLANT):
            cursor.execute(text, given)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    current_app.control.purge()  # what was sent when they were started
    return workflow


def _redriven(stage: Stage, workflow: Any, rate: float | None) -> Redriven:
    from django.db.models import Max, Min

    from dlq.models import DeadLetterEntry
    from executions.access.actor import Actor
    from valkyr_plugins.redrive import lifecycle
    from valkyr_plugins.redrive.lifecycle import RedriveOptions, make
    from valkyr_plugins.redrive.models import RedriveItem

    actor = Actor.system("benchmark")
    rows = DeadLetterEntry.objects.filter(workflow=workflow)
    redrive = make(rows, RedriveOptions(rate=rate), actor=actor)
    redrive = lifecycle.start(redrive.pk, actor=actor)

    def over() -> bool:
        redrive.refresh_from_db()
        return not redrive.busy

    wait(over, stage, 0.5, PATIENCE)
    items = RedriveItem.objects.filter(redrive=redrive, state="SUCCEEDED")
    times = items.aggregate(first=Min("sent_at"), sent=Max("sent_at"), ended=Max("ended_at"))
    began: datetime | None = times["first"]
    if items.count() != redrive.total or began is None or redrive.started_at is None:
        raise RuntimeError(f"only {items.count():,} of {redrive.total:,} succeeded")
    return Redriven(
        redrive.total,
        (times["sent"] - began).total_seconds(),
        (times["ended"] - redrive.started_at).total_seconds(),
        rate,
    )
