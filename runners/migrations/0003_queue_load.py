"""How much a queue has to do, as a function: what a cluster adds and removes workers by.

It runs with its owner's rights, so that whoever scales may call it and read no table. It reads
live runs only (the index `run_due`), never what has ended, and stops counting at `most`.
"""

from django.db import migrations

CREATE = """
CREATE FUNCTION valkyr_queue_load(of_queue text, most integer DEFAULT 10000) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT count(*)
      FROM (SELECT
              FROM runners_run r
              JOIN executions_workflowexecution e ON e.id = r.execution_id
             WHERE r.state IN ('PENDING', 'LEASED', 'RUNNING')
               AND r.queue = of_queue
               AND e.state = 'RUNNING'
               AND (r.retry_after IS NULL OR r.retry_after <= clock_timestamp())
             LIMIT most) AS due
$$;
REVOKE ALL ON FUNCTION valkyr_queue_load(text, integer) FROM PUBLIC;
COMMENT ON FUNCTION valkyr_queue_load IS
    'Steps of a queue that wait for a worker or are under way now, up to `most`.';
"""


class Migration(migrations.Migration):
    dependencies = [
        ("runners", "0002_storage"),
        ("executions", "0001_initial"),
    ]
    operations = [
        migrations.RunSQL(CREATE, "DROP FUNCTION valkyr_queue_load(text, integer)"),
    ]
