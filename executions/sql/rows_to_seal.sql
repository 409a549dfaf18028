-- The next rows of the audit trail to seal, after the last one sealed: how many, their ids and
-- leaves, the last one's transaction, and the time. All transactions below the snapshot's xmin are
-- over, so no row can appear behind this cursor. `since` keeps apart the rows of before a restore,
-- whose transactions were numbered by another server.
SELECT count(*), string_agg(uuid_send(r.id) || r.leaf, ''::bytea ORDER BY r.transaction, r.id),
       max(r.transaction), clock_timestamp(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
  FROM (
    SELECT a.id, a.transaction, sha256(convert_to(
--+ activity_content
           , 'UTF8')) AS leaf
      FROM executions_activity a
     WHERE a.transaction >= %(transaction)s AND (a.transaction, a.id) > (%(transaction)s, %(row)s)
       AND a.transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
       AND a.created_at > %(since)s
     ORDER BY a.transaction, a.id
     LIMIT %(most)s
  ) r
