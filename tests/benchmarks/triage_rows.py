"""A million dead letters in 500 groups of four workspaces, written by the database itself.

Groups are of very different sizes. The filtered values are of different frequencies: a country of
half the entries, one of only the oldest fifth, an order that exists once.
"""

from typing import Any

GROUPS = 500
EXECUTIONS = 1_000
WORKSPACES = 4

FILL_EXECUTIONS = """
INSERT INTO executions_workflowexecution
SELECT r.*
  FROM generate_series(1, %(executions)s) AS n
  JOIN bench_template AS t ON t.place = n %% 4
 CROSS JOIN LATERAL jsonb_populate_record(t.execution, jsonb_build_object(
       'id', uuidv7(n * interval '-1 second'), 'idempotency_key', NULL, 'state', 'FAILED',
       'started_at', clock_timestamp(), 'finished_at', clock_timestamp())) AS r
"""
FILL_GROUPS = """
INSERT INTO dlq_failuregroup (
    id, workspace_id, workflow_id, rule, place, module, exception, message, sample, split_on,
    status, status_before, status_at, muted, total, open, first_seen, last_seen, redriving)
SELECT uuidv7(), t.workspace_id, t.workflow_id, 1, 'step' || n %% 40 || '.main',
       (ARRAY['http.request', 'sql.query', 'mail.send', 'llm.chat'])[1 + n %% 4],
       'Error' || n %% 60, 'message ' || n || ' of <n>', 'message ' || n || ' of 7', '',
       (ARRAY['NEW', 'NEW', 'ACKNOWLEDGED', 'REGRESSED', 'RESOLVED'])[1 + n %% 5], '',
       clock_timestamp(), false, %(each)s, %(each)s / 2, clock_timestamp() - interval '30 days',
       clock_timestamp() - random() * interval '2 days', 0
  FROM generate_series(1, %(groups)s) AS n
  JOIN (SELECT place, (execution).workspace_id, (execution).workflow_id FROM bench_template) AS t
    ON t.place = CASE WHEN n <= 300 THEN 0 WHEN n <= 420 THEN 1 WHEN n <= 480 THEN 2 ELSE 3 END
"""
FILL_HOURS = """
INSERT INTO dlq_grouphour (group_id, hour, count)
SELECT id, date_trunc('hour', now()) - h * interval '1 hour', (random() * 40)::int
  FROM dlq_failuregroup CROSS JOIN generate_series(0, 190) AS h
"""
FILL_VERSIONS = """
INSERT INTO dlq_groupversion (group_id, number, count, first_seen, last_seen)
SELECT id, n, 100, now() - interval '9 days', now()
  FROM dlq_failuregroup CROSS JOIN generate_series(1, 4) AS n
"""
SPREAD = """
CREATE TABLE bench_spread AS
SELECT n, uuidv7(x.at - clock_timestamp()) AS id, uuidv7() AS run_id, x.at, x.luck,
       g.id AS group_id, g.workspace_id, g.workflow_id, g.place, g.module, g.exception, g.message,
       e.id AS execution_id
  FROM generate_series(1, %(many)s) AS n
 CROSS JOIN LATERAL (SELECT random() AS luck, power(random(), 3) AS rank,
                            clock_timestamp()
                            - interval '30 days' * (1 - n::float / %(many)s) AS at) AS x
  JOIN (SELECT row_number() OVER () AS rank, f.* FROM dlq_failuregroup AS f) AS g
    ON g.rank = 1 + floor(%(groups)s * x.rank)::int
  JOIN (SELECT row_number() OVER () AS at, id FROM executions_workflowexecution) AS e
    ON e.at = 1 + n %% %(executions)s
"""
FILL_RUNS = """
INSERT INTO runners_run (
    id, execution_id, epoch, segment, step_path, task_id, module_id, module, attempt, budget_start,
    state, superseded, queue, priority, lease_token, leased_by, recoveries, idempotency_key,
    inputs_hash, config_hash, outcome, error, error_type, publications, queued_at, started_at,
    finished_at, due_at, published_at, cost_tokens, cost_amount)
SELECT run_id, execution_id, 0, 's' || n, 's' || n, md5('s')::uuid, md5('m')::uuid, module, 1, 1,
       'DLQ', false, 'default', 5, 1, 'worker@box|1', 0, '', '', '', '', '', '', 1, at, at, at,
       NULL, at, 0, 0
  FROM bench_spread
"""
FILL_ENTRIES = """
INSERT INTO dlq_deadletterentry (
    id, workspace_id, workflow_id, execution_id, group_id, run_id, redrives, version_number,
    task_id, step_path, module, failure_type, failure_reason, error_type, exception, http_status,
    target, worker, fingerprint, attempts, original_inputs, original_config, inputs_indexed,
    resolution, quarantined_at, resolved_at, expires_at, pinned, notes)
SELECT id, workspace_id, workflow_id, execution_id, group_id, run_id, n %% 3, 1 + n %% 4,
       md5('s')::uuid, place, module, 'MAX_RETRIES',
       message || ': the partner said no to request ' || n, 'TRANSIENT', exception,
       CASE WHEN n %% 5 = 0 THEN 503 WHEN n %% 977 = 0 THEN 418 END, 'host' || n %% 50 || '.test',
       'io@box-' || n %% 8, md5(group_id::text), 3,
       jsonb_build_object(
           'order', jsonb_build_object(
               'id', n, 'total', (n %% 1000) / 7.0,
               'country', CASE WHEN n < %(many)s / 5 AND n %% 3 = 0 THEN 'AT'
                               WHEN n %% 2 = 0 THEN 'DE' WHEN n %% 2003 = 0 THEN 'LI' ELSE 'FR' END,
               'customer', jsonb_build_object('id', n %% 50000, 'name', md5(n::text))),
           'tags', CASE WHEN n %% 20011 = 0 THEN '["recall", "eu"]'::jsonb
                        ELSE '["web", "eu"]'::jsonb END,
           'lines', jsonb_build_array(
               jsonb_build_object('sku', 'SKU-' || n %% 20000, 'qty', n %% 9),
               jsonb_build_object('sku', 'SKU-' || (n + 7) %% 20000, 'qty', 1))),
       '{}', true,
       CASE WHEN luck < 0.6 THEN 'PENDING' WHEN luck < 0.9 THEN 'REQUEUED' ELSE 'DISCARDED' END,
       at, CASE WHEN luck < 0.6 THEN NULL ELSE at END,
       CASE WHEN luck < 0.6 THEN NULL ELSE at + interval '30 days' END, false, ''
  FROM bench_spread ORDER BY n
"""


def fill(many: int) -> None:
    """Write the rows; leave the tables as after a vacuum."""
    from django.db import connection

    sizes = {"many": many, "groups": GROUPS, "each": many // GROUPS, "executions": EXECUTIONS}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET synchronous_commit = off")
        _templates(cursor)
        # A million rows of known parents: their foreign keys are not checked one by one.
        cursor.execute("SET session_replication_role = replica")
        for sql in (
            FILL_EXECUTIONS, FILL_GROUPS, FILL_HOURS, FILL_VERSIONS, SPREAD, FILL_RUNS,
            FILL_ENTRIES,
        ):  # fmt: skip
            cursor.execute(sql, sizes)
        cursor.execute("VACUUM ANALYZE")
        cursor.execute(
            "RESET statement_timeout; RESET synchronous_commit; RESET session_replication_role"
        )


def _templates(cursor: Any) -> None:
    """Create an execution for each workspace in the usual way, to be copied."""
    from executions.access.actor import Actor
    from executions.models import Tier, Workspace
    from executions.publishing import versioning
    from executions.triggers.start import start_execution
    from tests.benchmarks import shapes

    actor = Actor.system("bench")
    tier = Tier.objects.get(name="unlimited")
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
