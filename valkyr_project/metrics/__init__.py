"""Prometheus: what a process counts, who may read it, and where it is served.

The metrics themselves are defined next to what they count: `executions.observability.metrics`,
`runners.observability.metrics`, `dlq.metrics`.
"""
