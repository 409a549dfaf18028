-- A live session of an account: the time, and its last use.
SELECT clock_timestamp(), s.last_used_at
  FROM executions_accountsession s
 WHERE s.id = %(session)s AND s.user_id = %(id)s
   AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
