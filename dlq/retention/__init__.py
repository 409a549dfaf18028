"""Delete expired rows in small batches, except those that remaining rows need.

`terms` and `periods` set the periods. `executions` selects and deletes families of executions.
`dead_letters` deletes dead letters and the rest of their groups, `trials` deletes test versions,
and `by_age` deletes rows by their age alone. `pruning` runs all of these: a duty runs it for a few
seconds, and `manage.py prune` runs it until it is done. The audit trail is never pruned.
"""
