"""Add to what Prometheus reads."""

from prometheus_client.core import GaugeMetricFamily as Family

from dlq.metrics.readings import BOUND, TRIAGE, Reading
from executions.observability.metric_values import Counter

__all__ = [
    "BOUND",
    "TRIAGE",
    "Counter",
    "Family",
    "Reading",
]
