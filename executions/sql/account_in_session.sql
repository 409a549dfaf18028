-- Return an account by its ID and its live session: the current time, the session's last use, and
-- all columns of the account's model, in the model's order.
SELECT clock_timestamp(), s.last_used_at,
--+ live_account
