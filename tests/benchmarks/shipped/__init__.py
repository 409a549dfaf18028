"""A user's stack, measured from outside: `make bench ARGS="--only shipped"`.

In the order of a run: `loads` (what is sent) → `homes` (a data folder of its own for each stack) →
`stack` (started as `make up` starts it) → `client` (sends over HTTP, waits, counts everybody's CPU)
→ `peers` (plain Celery and the bare worker, on the same machine) → `rounds` (these three one after
another, several times). Beside these `one_by_one` and `full_tables`; `goals` and `told` for people.
"""
