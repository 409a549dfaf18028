--! plan each time
-- Add a warning to the logs of waiting runs whose filter could not be evaluated, unless a log
-- already has `most` entries.
UPDATE runners_run r
   SET logs = coalesce(r.logs, '[]'::jsonb) || jsonb_build_array(jsonb_build_object(
           'ms', round(1000 * extract(epoch FROM clock_timestamp() - r.started_at)::numeric),
           'level', 'warning', 'message', f.message))
  FROM unnest(%(runs)s::uuid[], %(executions)s::uuid[], %(messages)s::text[])
       AS f (id, execution, message)
 WHERE r.id = f.id
   AND (r.execution_id = f.execution OR r.execution_id BETWEEN f.execution AND f.execution)
   AND (r.state = 'WAITING') IS TRUE
   AND jsonb_array_length(coalesce(r.logs, '[]'::jsonb)) < %(most)s
