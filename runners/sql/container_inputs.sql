--! one partition: execution
-- Return the inputs with which a container was started, without a map's items, and the number of
-- these items.
SELECT step_path, (inputs - 'items')::json,
       CASE jsonb_typeof(inputs -> 'items')
            WHEN 'array' THEN jsonb_array_length(inputs -> 'items')
            WHEN 'object' THEN (inputs #>> '{items,length}')::int
            ELSE 0 END
  FROM runners_run
 WHERE id = %(run)s
   AND (execution_id = %(execution)s OR execution_id BETWEEN %(execution)s AND %(execution)s)
