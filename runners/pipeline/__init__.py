"""How a worker handles one message.

Read in this order: `execute` (the loop), `claim_run`, `reveal_secrets`, `gates`, `record_result`,
`next_steps`, `write_result`, `finish`. `plan_execution` and `plan_from_rows` decide from rows
what is next, where no worker knows it. `end_run` and `crashes` end a run from outside its process.
"""
