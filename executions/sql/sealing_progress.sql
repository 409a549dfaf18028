-- Return the number of the newest link in the audit trail's chain, and the time of the first row
-- that no link covers.
SELECT last.number,
       (SELECT a.created_at
          FROM executions_activity a
         WHERE a.transaction > coalesce(last.last_transaction, 0)
           AND a.created_at > coalesce(last.since, '-infinity')
         ORDER BY a.transaction, a.id
         LIMIT 1)
  FROM (SELECT) AS always
  LEFT JOIN (
    SELECT s.number, s.last_transaction, s.since
      FROM executions_auditseal s
     ORDER BY s.number DESC
     LIMIT 1
  ) AS last ON true
