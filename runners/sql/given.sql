--! one partition: execution
-- What a container was started with: its inputs without a map's items, and how many those are.
SELECT step_path, (inputs - 'items')::json,
       CASE WHEN jsonb_typeof(inputs -> 'items') = 'array'
            THEN jsonb_array_length(inputs -> 'items') ELSE 0 END
  FROM runners_run
 WHERE id = %(run)s
   AND (execution_id = %(execution)s OR execution_id BETWEEN %(execution)s AND %(execution)s)
