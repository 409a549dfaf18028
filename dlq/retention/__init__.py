"""Delete expired rows in small batches, except those that remaining rows need.

`terms` and `periods` define the periods. `executions` deletes families of executions; `bulk`
deletes those of an old partition, thousands at once; `references` deletes or finds the rows that
refer to them. `dead_letters` deletes dead letters, `groups` deletes old failure groups, `trials`
deletes test versions, and `by_age` deletes rows by their age alone. `unstored` asks plugins which
executions must be stored first. `pruning` runs all of these: a duty runs it for a few seconds, and
`manage.py prune` runs it until it is done. The audit trail is never pruned.
"""
