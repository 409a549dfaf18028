-- An account by its id and its live session: the time, the session's last use, then all columns of
-- Django's model in its order.
SELECT clock_timestamp(), s.last_used_at,
--+ account
  FROM executions_accountsession s
  JOIN auth_user u ON u.id = s.user_id
 WHERE s.id = %(session)s AND s.user_id = %(id)s
   AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
