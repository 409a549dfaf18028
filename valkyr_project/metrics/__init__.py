"""Prometheus: what a process counts, who may read it, and where it is served.

Metrics themselves stand with what they count: `executions.observability.metrics`,
`runners.observability.metrics`, `dlq.metrics`.
"""
