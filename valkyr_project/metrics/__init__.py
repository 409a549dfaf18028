"""Prometheus: the metrics of a process, the permission to read them, and the port that serves them.

The metrics themselves are defined next to the code that they measure, in
`executions.observability.metrics`, `runners.observability.metrics`, and `dlq.metrics`.
"""
