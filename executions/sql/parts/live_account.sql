       {user_columns}
  FROM executions_accountsession s
  JOIN {user_table} u ON u.{user_key} = s.user_id
 WHERE s.id = %(session)s AND s.user_id = %(id)s
   AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
