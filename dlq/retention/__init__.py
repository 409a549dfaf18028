"""Delete expired rows in small batches, except those that remaining rows need.

`terms` and `periods` set the periods. `executions` selects and deletes families of executions;
`dead_letters` deletes dead letters and the rest of their groups, `trials` test versions, `by_age`
rows by their age alone. `pruning` runs all of these: for some seconds as a duty, to the end as
`manage.py prune`. The audit trail is never pruned.
"""
