"""What nobody needs any more is deleted, in small batches; never what something that stays needs.

`terms` and `periods` say how long, `executions` which families of executions, and deletes them;
`dead_letters` deletes dead letters and what is left of their groups, `trials` test versions,
`by_age` what is simply old. `pruning` goes through all of it: for some seconds as a duty, to the
end as `manage.py prune`. The audit
trail is never pruned.
"""
