-- Return suspended runs that may have missed events, because these came before other transactions
-- could see the run wait, and these events. At most `most` events of each run are returned, the
-- oldest first. A transaction that suspends a run ends within a minute, so later events found the
-- waiter. This takes no lock.
WITH behind AS MATERIALIZED (
    SELECT run_id, workspace_id, key, created_at, unheard_since
      FROM runners_waiter
     WHERE unheard_since > '-infinity'
       AND unheard_since < statement_timestamp() - %(age)s::float8 * interval '1 second'
     ORDER BY unheard_since
     LIMIT %(batch)s
)
SELECT b.run_id, b.unheard_since, e.id, e.created_at
  FROM behind b
  LEFT JOIN LATERAL (
    SELECT v.id, v.created_at FROM executions_event v
     WHERE v.workspace_id = b.workspace_id AND v.name = b.key
       AND v.created_at > b.unheard_since AND v.created_at < b.created_at + interval '1 minute'
     ORDER BY v.created_at
     LIMIT %(most)s) e ON TRUE
 ORDER BY b.unheard_since, b.run_id, e.created_at
