"""Handle one message in a worker.

Read in this order: `receive` (the loop), `claim_run`, `execute` (with `reveal_secrets`,
`short_lived` and `gates`), `decide` and `next_steps` (pure), `record_result`, and `write_result`.
`runners/planning` acts after a segment's last record. `lease_renewal` renews leases while steps
run; `lease_guard` (pure) and `self_stops` end steps whose lease cannot be renewed. `end_run` and
`crashes` end a run from outside its process. `leased_runs` serves runs that external programs
lease.
"""
