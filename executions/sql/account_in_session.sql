-- An account by its id and its live session: the time, the session's last use, then all columns of
-- the model of accounts in its order.
SELECT clock_timestamp(), s.last_used_at,
       {user_columns}
  FROM executions_accountsession s
  JOIN {user_table} u ON u.{user_key} = s.user_id
 WHERE s.id = %(session)s AND s.user_id = %(id)s
   AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
