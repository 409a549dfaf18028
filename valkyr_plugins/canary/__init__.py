"""Canary versions, which only a share of new executions uses, and rollbacks of publications.

`stop_rule` decides when a canary stops, `figures` counts the executions of both versions, and
`lifecycle` alone writes a canary's state. `watching` checks canaries regularly, and `settling`
cancels or forks executions that started on a bad version.
"""
