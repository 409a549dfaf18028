-- An account by its id and its live session: the time, the session's last use, then all columns of
-- the model of accounts in its order.
SELECT clock_timestamp(), s.last_used_at,
--+ live_account
