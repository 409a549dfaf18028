"""Add values to the Prometheus metrics."""

from prometheus_client.core import GaugeMetricFamily as Family

from dlq.metrics import BOUND, NAMED, READINGS, TRIAGE, Reading
from executions.observability.metric_values import Counter

__all__ = [
    "BOUND",
    "NAMED",
    "READINGS",
    "TRIAGE",
    "Counter",
    "Family",
    "Reading",
]
