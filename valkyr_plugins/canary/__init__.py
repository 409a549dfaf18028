"""Canary versions, which only a share of new executions uses, and rollbacks of publications.

Read `stop_rule` (when a canary stops, pure), `figures` (both sides, counted) and `lifecycle` (the
only writer of a canary's state). Then read `watching` (the beat job) and `settling` (executions on
a bad version).
"""
