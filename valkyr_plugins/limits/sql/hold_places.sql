-- Take a place of each of these locked quotas for a run, or none where one of them is full; places
-- whose holder did not come back in its time are free. A row for each quota that is full.
WITH void AS (
    DELETE FROM executions_quotahold
     WHERE quota_id = ANY(%(quotas)s) AND until <= clock_timestamp() AND run_id <> %(run)s
), taken AS MATERIALIZED (
    SELECT q.id, q.max_concurrent, count(h.id) AS held
      FROM executions_quota q
      LEFT JOIN executions_quotahold h
        ON h.quota_id = q.id AND h.until > clock_timestamp() AND h.run_id <> %(run)s
     WHERE q.id = ANY(%(quotas)s)
     GROUP BY q.id
), placed AS (
    INSERT INTO executions_quotahold (quota_id, run_id, until)
    SELECT t.id, %(run)s, clock_timestamp() + %(seconds)s * interval '1 second'
      FROM taken t
     WHERE NOT EXISTS (SELECT 1 FROM taken f WHERE f.held >= f.max_concurrent)
     ORDER BY t.id
    ON CONFLICT ON CONSTRAINT quota_hold_once DO UPDATE SET until = EXCLUDED.until
)
SELECT id, held FROM taken WHERE held >= max_concurrent ORDER BY id
