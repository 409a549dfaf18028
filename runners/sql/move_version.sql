-- Move a locked execution to another version of its workflow, with its live runs. Their tokens grow:
-- a worker that loaded one of them with the old version's steps cannot claim it. A remote step is
-- prepared again. It no longer counts as a start of the old version's canary.
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
           queue = coalesce(n.queue, r.queue), module = coalesce(n.module, r.module)
      FROM moved m, unnest(%(runs)s::uuid[], %(queues)s::text[], %(modules)s::text[])
           AS n (id, queue, module)
     WHERE r.id = n.id AND r.execution_id = m.id
       AND r.state IN ('PENDING', 'WAITING')
    RETURNING r.id
)
SELECT (SELECT count(*) FROM fenced) FROM moved
