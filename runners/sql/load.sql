--! one partition: execution
-- Return what a worker needs before it claims a run: the execution, the segment's one live run, and
-- the results that the first step's templates read. This takes no lock: the claim compares the
-- token that is read here, so that it fails if the run changes meanwhile.
-- `coalesce` makes the planner find the live run by the index of an execution's states. `IS TRUE`
-- makes it find the results by the index of all its runs. Otherwise it would read all finished runs
-- by the identity index, or combine that index with another.
--+ segment_columns
 WHERE e.id = %(execution)s
   AND r.segment = %(segment)s AND coalesce(r.superseded, false) = false
   AND r.state IN ('PENDING', 'LEASED', 'RUNNING', 'WAITING')
