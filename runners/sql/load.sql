--! one partition: execution
-- What a worker needs to know before it claims: the execution, the segment's one live run, and
-- the results the first step's templates read. Plain read, no lock: the claim compares the token
-- seen here, so whatever changes in between makes the claim fail. `coalesce` keeps the live run on the
-- index of its execution's states, `IS TRUE` the results on that of all its runs: the identity index
-- would be read for all that is done, or joined to the others.
--+ loaded
 WHERE e.id = %(execution)s
   AND r.segment = %(segment)s AND coalesce(r.superseded, false) = false
   AND r.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
