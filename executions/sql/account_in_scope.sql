-- Return what `account_in_session` returns. If the account has that live session, also limit the
-- database session to the rows of the account's workspaces, as `row_scope` does.
SELECT set_config('role', %(role)s, false),
       set_config('valkyr.workspaces', valkyr_workspaces_of(s.user_id), false),
       clock_timestamp(), s.last_used_at,
--+ live_account
