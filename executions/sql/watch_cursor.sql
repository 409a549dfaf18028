-- Return the current time, and the cursor from which a viewer reads on: every transaction below the
-- cursor has ended.
SELECT clock_timestamp(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
