-- Take slots of locked quotas for runs, each under the token of its lease. So the end of an earlier
-- lease, which is noticed later, frees nothing. Slots whose holder did not return in time are
-- deleted.
WITH void AS (
    DELETE FROM executions_quotahold
     WHERE quota_id = ANY(%(quotas)s) AND until <= clock_timestamp() AND run_id <> ALL(%(runs)s)
)
INSERT INTO executions_quotahold (quota_id, run_id, token, until)
SELECT p.quota_id, p.run_id, p.token, clock_timestamp() + p.seconds * interval '1 second'
  FROM unnest(%(quotas)s::uuid[], %(runs)s::uuid[], %(tokens)s::int[], %(seconds)s::float8[])
       AS p (quota_id, run_id, token, seconds)
 ORDER BY p.quota_id, p.run_id
ON CONFLICT ON CONSTRAINT quota_hold_once
DO UPDATE SET until = EXCLUDED.until, token = EXCLUDED.token
