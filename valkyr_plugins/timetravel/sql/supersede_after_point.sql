-- Mark all runs that do not belong to a point as superseded. Live ones are cancelled, and their
-- tokens grow, so that their holders are fenced. The caller holds the execution's lock. The runs
-- that belong to the point remain, as do earlier attempts of their steps and the containers around
-- them that still wait.
WITH undone AS (
    UPDATE runners_run r
       SET superseded = true,
           state = CASE WHEN r.finished_at IS NULL THEN 'CANCELLED' ELSE r.state END,
           lease_token = r.lease_token + CASE WHEN r.finished_at IS NULL THEN 1 ELSE 0 END,
           lease_until = CASE WHEN r.finished_at IS NULL THEN NULL ELSE r.lease_until END,
           retry_after = CASE WHEN r.finished_at IS NULL THEN NULL ELSE r.retry_after END,
           finished_at = coalesce(r.finished_at, clock_timestamp())
     WHERE r.execution_id = %(execution)s AND NOT r.superseded
       AND NOT ((r.state IN ('SKIPPED', 'SUCCESS') OR (r.state = 'FAILED' AND r.outcome = 'error'))
                AND r.epoch = %(epoch)s AND (r.finished_at, r.id) <= (%(at)s, %(last)s)
                AND r.step_path <> %(before)s)
       AND NOT (r.state = 'WAITING' AND r.waits_for = 'body' AND r.step_path = ANY(%(around)s))
       AND NOT (r.state = 'FAILED' AND r.outcome = '' AND EXISTS (
               SELECT 1 FROM runners_run k
                WHERE k.execution_id = %(execution)s AND k.epoch = %(epoch)s
                  AND k.step_path = r.step_path AND k.state = 'SUCCESS' AND NOT k.superseded
                  AND (k.finished_at, k.id) <= (%(at)s, %(last)s)))
    RETURNING r.state
)
SELECT count(*), count(*) FILTER (WHERE state = 'CANCELLED') FROM undone
