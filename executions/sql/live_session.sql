-- Return the current time and the last use of an account's live session; no row if it is not live.
SELECT clock_timestamp(), s.last_used_at
  FROM executions_accountsession s
 WHERE s.id = %(session)s AND s.user_id = %(id)s
   AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
