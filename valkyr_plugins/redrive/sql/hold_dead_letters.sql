-- Hold the items of a draft that starts, if the dead letter is open and no other redrive holds it;
-- skip the other items. Return the number of skipped items. The caller holds the workspace's lock
-- for this.
WITH looked AS MATERIALIZED (
    SELECT i.id,
           CASE WHEN d.resolution <> 'PENDING'
                THEN 'The dead letter was ' || lower(d.resolution) || ' before the redrive began.'
                WHEN o.redrive_id IS NOT NULL
                THEN 'Redrive ' || o.redrive_id || ' holds the dead letter.'
                END AS reason
      FROM dlq_redriveitem i
      JOIN dlq_deadletterentry d ON d.id = i.entry_id
      LEFT JOIN dlq_redriveitem o ON o.entry_id = i.entry_id AND o.active
     WHERE i.redrive_id = %(redrive)s AND i.state = 'QUEUED'
), moved AS (
    UPDATE dlq_redriveitem i
       SET active = CASE WHEN l.reason IS NULL THEN true END,
           state = CASE WHEN l.reason IS NULL THEN i.state ELSE 'SKIPPED' END,
           reason = coalesce(l.reason, ''),
           ended_at = CASE WHEN l.reason IS NOT NULL THEN clock_timestamp() END
      FROM looked l
     WHERE i.id = l.id
    RETURNING i.state
)
SELECT count(*) FILTER (WHERE state = 'SKIPPED') FROM moved
