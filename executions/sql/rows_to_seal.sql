-- Return the next rows of the audit trail to seal, after the last sealed row: their number, their
-- IDs and leaves, the last row's transaction, the current time, and the snapshot's xmin. All
-- transactions below this xmin have ended, so that no row can appear before this position later.
-- `since` excludes the rows from before a restore, whose transactions another server numbered.
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
