"""Handle one message in a worker.

Read in this order: `receive` (the loop), `claim_run`, `execute` (with `reveal_secrets`,
`short_lived` and `runners/gates`), `decide` and `next_steps` (pure), `record_result`, and
`write_result`. `runners/planning` plans and ends executions. `lease_renewal` renews leases while
steps run; `lease_guard` (pure) and `self_stops` end steps whose lease cannot be renewed. `end_run`
and `crashes` end or release a run without its holder. `leased_runs` serves runs that remote runners
lease.
"""
