-- Return the number of dead letters per second that the workspace's last redrive without a maximum
-- rate sent. Also return the average duration, in seconds, of the failed attempts of some dead
-- letters.
SELECT (SELECT p.pace_sent / extract(epoch FROM p.finished_at - p.pace_since)
          FROM dlq_redrive p
         WHERE p.workspace_id = %(workspace)s AND p.state = 'DONE' AND p.rate IS NULL
           AND p.max_in_flight IS NULL AND p.canary = 0 AND p.pace_sent >= 100
           AND p.finished_at > p.pace_since
         ORDER BY p.created_at DESC
         LIMIT 1),
       (SELECT avg(r.duration_ms) / 1000
          FROM unnest(%(entries)s::uuid[]) AS i (entry_id)
          JOIN dlq_deadletterentry d ON d.id = i.entry_id
          JOIN runners_run r ON r.id = d.run_id)
