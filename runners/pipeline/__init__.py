"""How a worker handles one message.

Read in this order: `receive` (the loop), `claim_run`, `execute` (with `reveal_secrets`, `gates`),
`decide` and `next_steps` (pure), `record_result`, `write_result`. What follows the last record is
in `runners/planning`. `lease_renewal` renews leases while steps run; `lease_guard` (pure) and
`self_stops` end steps whose lease cannot be renewed. `end_run` and `crashes` end a run from outside
its process. `leased_runs` is for runs that programs outside our workers lease.
"""
