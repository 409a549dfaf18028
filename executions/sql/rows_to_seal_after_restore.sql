-- Return the rows that no link covers and whose transactions have ended, after a restore into
-- another server, which numbers transactions from its own start. Rows written before the restore
-- have higher transaction numbers than the last sealed row. Rows written since then are younger
-- than the last link. The third column is the time of the newest row from before the restore.
SELECT count(*), string_agg(uuid_send(r.id) || r.leaf, ''::bytea ORDER BY r.created_at, r.id),
       max(r.created_at) FILTER (WHERE r.transaction >= r.now_open), clock_timestamp(),
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  FROM (
    SELECT a.id, a.transaction, a.created_at, m.now_open, sha256(convert_to(
--+ activity_content
           , 'UTF8')) AS leaf
      FROM executions_activity a,
           (SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS now_open) m
     WHERE age(a.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::text::xid8::xid)
       AND (a.transaction > %(transaction)s
            OR (a.created_at > %(sealed)s AND a.transaction < m.now_open))
  ) r
