-- Return the current time and the administrators' rules. Without rules, return one row, whose
-- pattern is NULL.
SELECT clock_timestamp(), r.pattern, r.failure_threshold, r.window_seconds, r.recovery_seconds,
       r.timeout_seconds
  FROM (SELECT) nothing
  LEFT JOIN (SELECT * FROM runners_circuitrule ORDER BY pattern LIMIT %(most)s) r ON true
