-- The moment from which whoever watches reads on: every transaction below the cursor has ended.
SELECT clock_timestamp(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
