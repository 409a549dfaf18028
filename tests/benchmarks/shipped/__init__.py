"""A user's stack, measured from outside: `make bench ARGS="--only shipped"`.

In the order of a run: `loads` (the work that is sent) → `homes` (a data folder for each stack) →
`stack` (started as `make up` starts it) → `client` (sends over HTTP, waits, counts all CPU) →
`peers` (plain Celery and the bare worker, on the same machine) → `rounds` (these three in turn,
several times). Also `one_by_one` and `full_tables`; `goals` and `told` print the results.
"""
