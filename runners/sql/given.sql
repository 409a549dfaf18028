--! one partition: execution
-- What a container was started with: its inputs without a map's items, and how many those are.
SELECT step_path, (inputs - 'items')::json,
       CASE jsonb_typeof(inputs -> 'items')
            WHEN 'array' THEN jsonb_array_length(inputs -> 'items')
            WHEN 'object' THEN (inputs #>> '{items,length}')::int
            ELSE 0 END
  FROM runners_run
 WHERE id = %(run)s
   AND (execution_id = %(execution)s OR execution_id BETWEEN %(execution)s AND %(execution)s)
