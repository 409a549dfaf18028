"""Canary versions, which only a share of new executions uses, and rollbacks of publications.

Read `stop_rule` (when a canary stops, pure), `figures` (both sides, counted), `lifecycle` (the only
writer of a canary's state), `watching` (the beat job), `settling` (executions on a bad version).
"""
