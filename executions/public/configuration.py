"""Read settings from the environment."""

from executions import environment
from executions.definition.limits import OWN_QUEUES, limits

__all__ = [
    "OWN_QUEUES",
    "environment",
    "limits",
]
