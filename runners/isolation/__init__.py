"""Run each suspect step alone in a process, so that a second crash shows which step is the cause.

Only a worker whose threads share a process needs isolation; a child of a prefork pool executes one
step at a time anyway. `run_isolated` decides which runs are isolated, and evaluates the results.
`client` talks to the fork server, `server` forks, `child` runs in the forked process, and
`protocol` defines the orders and reports.
"""
