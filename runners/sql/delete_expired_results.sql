-- Delete expired results, the oldest first.
DELETE FROM runners_cachedresult
 WHERE id IN (
       SELECT id
         FROM runners_cachedresult
        WHERE expires_at <= statement_timestamp()
        ORDER BY expires_at
        LIMIT %(batch)s
          FOR UPDATE SKIP LOCKED)
RETURNING id
