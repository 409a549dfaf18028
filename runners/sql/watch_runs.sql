--! plan each time
-- Return the runs of each watched execution that may have changed after a read at the cursor
-- `since` (executions/live/feed.py). At most `most` + 1 runs of each are returned, so that the
-- caller notices if there are too many.
SELECT r.execution_id, r.id, r.step_path, r.module, r.attempt, r.epoch, r.superseded, r.state,
       r.waits_for, split_part(r.leased_by, '|', 1), r.queue, r.queued_at, r.started_at,
       r.finished_at, r.retry_after, r.duration_ms, r.outcome,
       CASE WHEN starts_with(r.error, '$sealed:') THEN r.error ELSE left(r.error, 300) END,
       r.error_type,
       r.recoveries, r.cached_from,
       CASE WHEN r.module = 'flow.subworkflow' THEN r.progress ->> 'executionId' END
  FROM unnest(%(ids)s::uuid[]) AS watched(id)
 CROSS JOIN LATERAL (
       SELECT x.*
         FROM runners_run x
        WHERE x.execution_id = watched.id
          AND age(x.xmin) <= age(%(since)s::text::xid8::xid)
        LIMIT %(most)s + 1
       ) r
