"""What nobody needs any more is deleted, in small batches; never what something that stays needs.

`terms` says how long, `families` which executions, `executions` deletes them, `evidence` dead
letters, `groups` what is left of theirs, `trials` test versions, `aged` what is simply old.
`pruning` goes through all of it: `duty` for some seconds, `manage.py prune` to the end. The audit
trail is never pruned.
"""
