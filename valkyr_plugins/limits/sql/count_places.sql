-- How many places of these locked quotas others hold: not the runs given, which take theirs anew.
-- Places whose holder did not come back in its time are free.
SELECT quota_id, count(*)
  FROM executions_quotahold
 WHERE quota_id = ANY(%(quotas)s) AND until > clock_timestamp() AND run_id <> ALL(%(runs)s)
 GROUP BY quota_id
