-- Count the slots of these locked quotas that other runs hold. The given runs are excluded, because
-- they take their slots again. A slot whose holder did not return in time is free.
SELECT quota_id, count(*)
  FROM executions_quotahold
 WHERE quota_id = ANY(%(quotas)s) AND until > clock_timestamp() AND run_id <> ALL(%(runs)s)
 GROUP BY quota_id
