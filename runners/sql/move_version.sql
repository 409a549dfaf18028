-- Move a locked execution and its live runs to another version of its workflow. The runs' tokens
-- grow: a worker that loaded a run with the old version's steps cannot claim it. The inputs of
-- remote steps are rendered again. The execution no longer counts as a start of the old version's
-- canary.
-- `steps` maps the ID of each live run to its queue, module and segment in the new version. It is
-- not joined, so that the planner can find the runs only by their execution.
-- Return a row only if the execution was still on the old version.
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
