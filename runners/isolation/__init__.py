"""Suspect steps run apart: each alone in a process, so that a second death names the culprit.

Only a worker whose threads share a process needs this; a child of a prefork pool executes one step
at a time anyway. `carrying` decides and judges, `client` talks to the fork server, `server` forks,
`child` is what the forked process does, `order` what it is told.
"""
