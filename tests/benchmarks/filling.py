"""Tables filled by SQL with rows as the engine leaves them: forty workspaces of all sizes.

An execution's row is copied from one that the engine created; only ids, times and states differ.
Two sessions fill at once, and neither checks each row's foreign keys.

`python -m tests.benchmarks.filling EXECUTIONS RUNS_EACH` fills the database of its environment,
does not analyse it, and leaves nothing unfinished there.
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

WORKSPACES = 40
FILL_EXECUTIONS = """
INSERT INTO executions_workflowexecution ({columns})
SELECT {values}
  FROM generate_series(%(first)s::int, %(last)s) AS n
 CROSS JOIN LATERAL (SELECT random() AS luck,
                            clock_timestamp()
                            - interval '30 days' * (1 - n::float / %(many)s) AS at,
                            floor(%(places)s * power(random(), 3))::int AS place
                    ) AS x
  JOIN bench_template AS t ON t.place = x.place
"""
EXECUTION = {
    "id": "uuidv7(x.at - clock_timestamp())",
    "created_at": "x.at",
    "started_at": "x.at",
    "finished_at": "x.at + interval '1 second'",
    "idempotency_key": "NULL",
    "trace_id": "md5(x.luck::text)",
    "state": "CASE WHEN x.luck < 0.95 THEN 'SUCCESS' WHEN x.luck < 0.98 THEN 'FAILED' "
    "WHEN x.luck < 0.99 THEN 'CANCELLED' ELSE 'TIMEOUT' END",
}
FILL_RUNS = """
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, outcome, error, error_type, publications, queued_at, started_at,
    finished_at, due_at, published_at, cost_tokens, cost_amount{columns})
SELECT uuidv7(e.created_at - clock_timestamp()), e.id, 0, 's' || n, 's' || n || '.main',
       md5('s' || n)::uuid, md5('m')::uuid, 'data.set', 1, 1,
       CASE WHEN e.state = 'FAILED' AND n = %(each)s THEN 'DLQ' ELSE 'SUCCESS' END, false,
       'default', 5, 1, 'worker@box|1', 0, '', '', '', 'success', '', '', 1, e.created_at,
       e.created_at, e.finished_at, NULL, e.created_at, 0, 0{values}
  FROM executions_workflowexecution AS e CROSS JOIN generate_series(1, %(each)s) AS n
 WHERE e.finished_at IS NOT NULL
"""
FILL_GROUPS = """
INSERT INTO dlq_failuregroup (
    id, workspace_id, workflow_id, rule, place, module, exception, message, sample, split_on,
    status, status_before, status_at, muted, total, open, first_seen, last_seen,
    redriving{columns})
SELECT uuidv7(), (execution).workspace_id, (execution).workflow_id, 1, 's2.main', 'data.set', '',
       'gone', 'gone', '', 'NEW', '', clock_timestamp(), false, 1, 1, clock_timestamp(),
       clock_timestamp(), 0{values}
  FROM bench_template
"""
FILL_LETTERS = """
INSERT INTO dlq_deadletterentry (
    id, workspace_id, workflow_id, execution_id, run_id, task_id, step_path, failure_reason,
    failure_type, fingerprint, quarantined_at, resolution, notes, module, error_type,
    attempts, version_number, group_id{columns})
SELECT gen_random_uuid(), e.workspace_id, e.workflow_id, e.id, r.id, r.task_id, r.step_path, 'gone',
       'MAX_RETRIES', md5((random() * 500)::int::text), e.finished_at, 'PENDING', '', r.module,
       '', 3, 1, g.id{values}
  FROM runners_run AS r JOIN executions_workflowexecution AS e ON e.id = r.execution_id
  JOIN dlq_failuregroup AS g ON g.workflow_id = e.workflow_id
 WHERE r.state = 'DLQ'
"""
FILL_ACTIVITY = """
INSERT INTO executions_activity (
    id, workspace_id, actor_name, via, action, object_type, object_id, reason, details,
    created_at{columns})
SELECT uuidv7(created_at - clock_timestamp()), workspace_id, 'ada', 'api', 'execution.start',
       'WorkflowExecution', id::text, '', '{{}}', created_at{values}
  FROM executions_workflowexecution
"""


# A table that a stack will use must leave the stack nothing to do.
DROP_TEMPLATES = """
DELETE FROM runners_run WHERE execution_id IN (SELECT (execution).id FROM bench_template);
DELETE FROM executions_workflowexecution
 WHERE id IN (SELECT (execution).id FROM bench_template);
DROP TABLE bench_template
"""


def fill(many: int, runs_each: int, *, analysed: bool = True) -> None:
    """Insert this number of executions and runs, their dead letters and their activity.

    If `analysed` is true, the tables are vacuumed and analysed. Otherwise, the executions from
    which the rows were copied are deleted.
    """
    from dlq.models import DeadLetterEntry, FailureGroup
    from executions.models import Activity
    from runners.models import Run

    _templates()
    sizes = {"many": many, "places": WORKSPACES, "each": runs_each}
    halves = ((1, many // 2), (many // 2 + 1, many))
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda half: _executions(sizes, *half), halves))
        list(
            both.map(lambda pair: run(*pair, sizes), ((Run, FILL_RUNS), (Activity, FILL_ACTIVITY)))
        )
    for model, statement in ((FailureGroup, FILL_GROUPS), (DeadLetterEntry, FILL_LETTERS)):
        run(model, statement, sizes)
    _execute("VACUUM ANALYZE" if analysed else DROP_TEMPLATES)


def _templates() -> None:
    """Create workspaces, each with a workflow and one execution that the engine started."""
    from django.db import connection

    from executions.access.actor import Actor
    from executions.models import Tier, Workspace
    from executions.publishing import versioning
    from executions.triggers.start import start_execution
    from tests.benchmarks import shapes

    actor = Actor.system("bench")
    tier = Tier.objects.get(name="unlimited")
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bench_template (place int, execution executions_workflowexecution)"
        )
        for place in range(WORKSPACES):
            workspace = Workspace.objects.create(slug=f"team-{place}", name=f"T{place}", tier=tier)
            workflow = versioning.create_workflow(
                workspace,
                name=f"flow {place}",
                definition=shapes.single("data.set", {"values": {"n": 1}}),
                actor=actor,
            )
            versioning.publish(workflow.pk, actor=actor)
            workflow.refresh_from_db()
            start_execution(workflow, {}, actor=actor)
            cursor.execute(
                "INSERT INTO bench_template SELECT %s, e FROM executions_workflowexecution e "
                "WHERE workflow_id = %s",
                [place, workflow.pk],
            )


def _executions(sizes: dict[str, int], first: int, last: int) -> None:
    from executions.models import WorkflowExecution

    names = [field.column for field in WorkflowExecution._meta.concrete_fields]
    statement = FILL_EXECUTIONS.format(
        columns=", ".join(names),
        values=", ".join(EXECUTION.get(name, f"(t.execution).{name}") for name in names),
    )
    _execute(statement, sizes | {"first": first, "last": last})


def run(model: Any, statement: str, sizes: dict[str, int]) -> None:
    """Fill a model's table; columns that the statement leaves out get their defaults."""
    columns, values, rest = _rest(model, statement)
    _execute(statement.format(columns=columns, values=values), sizes | rest)


def _execute(statement: str, values: dict[str, Any] | None = None) -> None:
    """Execute the statement in a separate session."""
    from tests.support import copies

    with copies.session(autocommit=True) as own:
        own.execute("SET synchronous_commit = off")
        own.execute(statement.encode(), values)


def _rest(model: Any, statement: str) -> tuple[str, str, dict[str, Any]]:
    """Return the required columns that a statement omits, with their defaults."""
    from django.db import connection

    given = set(re.split(r"[\s,]+", statement.partition("(")[2].partition("{columns}")[0]))
    found = {
        field.column: field.get_db_prep_save(field.get_default(), connection)
        for field in model._meta.concrete_fields
        if field.column not in given and not field.null and not field.has_db_default()
    }
    columns = "".join(f', "{name}"' for name in found)
    return columns, "".join(f", %({name})s" for name in found), found


if __name__ == "__main__":
    import django

    django.setup()
    fill(*map(int, sys.argv[1:]), analysed=False)
