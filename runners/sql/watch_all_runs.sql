-- Return the runs of one execution for a new viewer, at most `most` + 1, so that the caller notices
-- if there are too many. Live runs come first, then failed ones, then the rest; the newest come
-- first in each.
SELECT r.execution_id, r.id, r.step_path, r.module, r.attempt, r.epoch, r.superseded, r.state,
       r.waits_for, split_part(r.leased_by, '|', 1), r.queue, r.queued_at, r.started_at,
       r.finished_at, r.retry_after, r.duration_ms, r.outcome,
       CASE WHEN starts_with(r.error, '$sealed:') THEN r.error ELSE left(r.error, 300) END,
       r.error_type,
       r.recoveries, r.cached_from,
       CASE WHEN r.module = 'flow.subworkflow' THEN r.progress ->> 'executionId' END
  FROM runners_run r
 WHERE r.execution_id = %(execution)s
 ORDER BY CASE WHEN r.finished_at IS NULL THEN 0
               WHEN r.superseded THEN 3
               WHEN r.state IN ('FAILED', 'DLQ') THEN 1
               ELSE 2 END,
          r.id DESC
 LIMIT %(most)s + 1
