-- Runs that fell asleep and for which nobody has looked yet for events that came before others
-- could see them wait, with such events: at most so many a run, the oldest first. A transaction
-- that puts a run to sleep is over within a minute, so later events saw it. Plain read.
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
