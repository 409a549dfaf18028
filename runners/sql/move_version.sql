-- Move a locked execution to another version of its workflow, with its live runs. Their tokens grow:
-- a worker that loaded one of them with the old version's steps cannot claim it. A remote step is
-- prepared again. It no longer counts as a start of the old version's canary.
-- `steps` has the queue, the module and the segment of each live run in the new version, by the run's
-- id. It is not joined: so there is one way to find the runs, by their execution.
-- A row only if the execution was still on the old version.
WITH moved AS (
    UPDATE executions_workflowexecution
       SET version_id = %(target)s, canary = false,
           context_data = %(defaults)s::jsonb || context_data
     WHERE id = %(execution)s AND version_id = %(source)s
    RETURNING id
), fenced AS (
    UPDATE runners_run r
       SET lease_token = r.lease_token + 1, secret_places = NULL,
           queue = %(steps)s::jsonb -> r.id::text ->> 0,
           module = %(steps)s::jsonb -> r.id::text ->> 1,
           segment = %(steps)s::jsonb -> r.id::text ->> 2
     WHERE r.execution_id = (SELECT id FROM moved) AND r.state IN ('PENDING', 'WAITING')
    RETURNING r.id
)
SELECT (SELECT count(*) FROM fenced) FROM moved
